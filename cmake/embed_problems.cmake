# Writes a C file with the texts of problems/*/model.yaml, and of the parts and tables beside them, so that the program has them
# wherever it runs (cli/problems.h).
# cmake -DPROBLEMS=<folder> -DOUTPUT=<file.c> -P embed_problems.cmake
# Bytes, not string literals: compilers need not take long ones.
file(GLOB models RELATIVE ${PROBLEMS} ${PROBLEMS}/*/*.yaml ${PROBLEMS}/*/*.csv)
list(FILTER models EXCLUDE REGEX "/reference[^/]*$")
list(SORT models)
set(texts "")
set(table "")
set(beside "")
foreach(model ${models})
    get_filename_component(name ${model} DIRECTORY)
    get_filename_component(file ${model} NAME)
    file(READ ${PROBLEMS}/${model} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(MAKE_C_IDENTIFIER "text_${model}" text)
    string(APPEND texts "static const unsigned char ${text}[] = {\n${bytes}0};\n")
    if(file STREQUAL "model.yaml")
        string(APPEND table "    {\"${name}\", (const char *)${text}, sizeof ${text} - 1},\n")
    else()
        string(APPEND beside "    {\"${name}\", \"${file}\", (const char *)${text}, sizeof ${text} - 1},\n")
    endif()
endforeach()
file(WRITE ${OUTPUT} "/* Made by cmake/embed_problems.cmake from problems/. */
#include \"problems.h\"

${texts}
const problem problems[] = {
${table}};
const int problem_count = sizeof problems / sizeof problems[0];
const problem_file problem_files[] = {
${beside}};
const int problem_file_count = sizeof problem_files / sizeof problem_files[0];
")
