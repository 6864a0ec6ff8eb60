# Linkwork: what people call. CMake and Ninja do the building, in build/.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 60
MODEL ?= problems/four_bar/model.yaml

CONFIGURE = cmake -S . -G Ninja -Wno-dev --log-level=WARNING
SANITIZED = $(CONFIGURE) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1
# tests/conformance/test_thread.c is the target conformance-thread
THREAD_TESTS = $(subst /,-,$(patsubst tests/%.c,%,$(subst /test_,/,$(wildcard tests/*/test_*thread*.c))))

# tests/conformance/test_balance.c is the test conformance/balance; those that know LINKWORK_LONG do more then.
LONG_TESTS = $(subst /test_,/,$(patsubst tests/%.c,%,$(shell grep -l LINKWORK_LONG tests/*/test_*.c)))

.PHONY: build mpi run test python python-test python-types wheel test-long test-sanitize test-thread test-page test-gltf test-arm test-import test-fmu fmu-windows test-fmu-windows test-derivatives check-layers check-prose check-format format reference docs fuzz fuzz-merge bench bench-peers bench-python \
	comparison endurance install deb test-deb dist test-dist setup clean help
.DEFAULT_GOAL := build

setup:
	@bash tools/setup

build: setup ## build the program, build/linkwork
	@test -f build/build.ninja || $(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=OFF
	@cmake --build build --target linkwork-program -j $(JOBS)

mpi: build ## build build/linkwork-mpi: sweeps on the ranks of Open MPI
	@cmake --build build --target linkwork-mpi -j $(JOBS)

run: build ## simulate MODEL (a four-bar linkage) into results/, with a plot and a page that shows it moving
	@mkdir -p results
	@name=$$(basename "$(MODEL)" .yaml) && \
	if [ "$$name" = model ]; then name=$$(basename "$$(dirname "$(MODEL)")"); fi && \
	build/linkwork run "$(MODEL)" --out "results/$$name.csv" && \
	build/linkwork plot "results/$$name.csv" --out "results/$$name.svg" >/dev/null && \
	build/linkwork view "$(MODEL)" --quiet --out "results/$$name.html" && \
	echo "" && \
	echo "numbers: $(CURDIR)/results/$$name.csv (any spreadsheet)" && \
	echo "plot:    $(CURDIR)/results/$$name.svg (any web browser)" && \
	echo "moving:  $(CURDIR)/results/$$name.html (any web browser)"

test: setup ## build and run every test
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS)
	@ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS)

python: setup ## the Python package, importable from build/python
	@$(CONFIGURE) -B build -DLINKWORK_PYTHON_PACKAGE=ON
	@cmake --build build -j $(JOBS) --target linkwork-python linkwork-program
	@echo "PYTHONPATH=$(CURDIR)/build/python python3 -c 'import linkwork'"

python-test: setup ## the tests of the Python package, by pytest
	@$(CONFIGURE) -B build -DLINKWORK_TESTS=ON -DLINKWORK_PYTHON_PACKAGE=ON
	@cmake --build build -j $(JOBS) --target linkwork-python linkwork-program
	@ctest --test-dir build --output-on-failure --no-tests=error -R '^python/'

python-types: python ## the types of the Python package and its examples by mypy --strict (pip fetches it)
	@bash python/tests/types build

wheel: setup ## a wheel with its own shared libraries in build/wheel, repaired by auditwheel (pip fetches it) and tried
	@bash python/tests/wheel

test-long: setup ## the tests that take long: random mechanisms by the ten thousands, broken formulations (40 min)
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS)
	@LINKWORK_LONG=1 ctest --test-dir build --output-on-failure --no-tests=error --timeout 3600 -j $(JOBS) \
	    -R '^($(subst $() ,|,$(LONG_TESTS)))$$'
	@python3 tests/mutation/run build

test-sanitize: setup ## the same tests with address and undefined-behaviour sanitizers
	@$(SANITIZED) -B build-asan -DLINKWORK_SANITIZE=address,undefined
	@cmake --build build-asan -j $(JOBS)
	@ctest --test-dir build-asan --output-on-failure --no-tests=error -j $(JOBS)

test-thread: setup ## the tests of several threads with the thread sanitizer
	@$(SANITIZED) -B build-tsan -DLINKWORK_SANITIZE=thread
	@cmake --build build-tsan -j $(JOBS) --target $(THREAD_TESTS)
	@ctest --test-dir build-tsan --output-on-failure --no-tests=error -R thread

test-page: build ## the pages of linkwork view and reproduce in headless Chromium (installs it)
	@bash tools/setup --page
	@mkdir -p results && python3 tests/page/test_view.py build/linkwork results/view
	@mkdir -p results && python3 tests/page/test_page.py build/linkwork results/page

test-gltf: setup ## every problem as .glb, judged by Khronos' gltf-validator (npm fetches it)
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS) --target glb-of
	@bash tests/export/validate build

test-arm: setup ## generated C on a 32-bit ARM (qemu-user), and put to cppcheck
	@bash tools/setup --arm
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS) --target linkwork-program
	@bash tests/export/judge_generated_c build/linkwork

test-import: setup ## imports judged by Pinocchio and MuJoCo (pip fetches them) and libsdformat, and every method on them
	@bash tools/setup --judges
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS) --target import-probe import-sdf_poses linkwork-program
	@bash tests/import/judges/run build

test-fmu: build ## FMUs judged by FMPy (pip fetches it): validated, Model Exchange with CVode, Co-Simulation, against runs
	@bash tests/fmu/judge build

fmu-windows: setup ## FMUs for Windows too, from now on: their runtime by mingw-w64 (installs it), build/fmu-win64.dll
	@bash tools/setup --windows
	@$(CONFIGURE) -B build -DLINKWORK_FMU_WINDOWS=ON
	@cmake --build build -j $(JOBS) --target linkwork-program

test-fmu-windows: fmu-windows ## the same FMUs on Linux and under Wine (installs it): the same figures
	@bash tools/setup --wine
	@$(CONFIGURE) -B build -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS) --target linkwork-program fmu-probe
	@ctest --test-dir build --output-on-failure --no-tests=error -R '^fmu/windows$$'

test-derivatives: setup ## derivatives of the accelerations of random trees judged by Pinocchio (pip fetches it)
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=ON
	@cmake --build build -j $(JOBS) --target import-probe
	@bash tests/derivatives/run build

check-layers: ## includes point one way
	@tools/check_layers

check-prose: ## columns, doubled words, names of files
	@tools/check_prose

check-format: ## the C files are formatted as .clang-format says
	@bash tools/setup --format
	@sh tools/check_format

format: ## format the C files
	@bash tools/setup --format
	@sh tools/check_format --fix

reference: ## the public functions in a browser, from their headers: build/reference/html/index.html (installs Doxygen)
	@bash tools/setup --reference
	@mkdir -p build/reference && doxygen docs/reference.doxyfile
	@echo "$(CURDIR)/build/reference/html/index.html"

docs: ## the documentation as a site for a browser without a network: build/docs/index.html (installs pandoc)
	@bash tools/setup --docs
	@mkdir -p build && python3 tools/site build/docs
	@echo "$(CURDIR)/build/docs/index.html"

fuzz: ## fuzz the readers of models, expressions, tables, meshes, URDF, SDF, MJCF and CAD, SECONDS (60) in all
	@bash tools/setup --fuzz
	@$(SANITIZED) -B build-fuzz -DCMAKE_C_COMPILER=clang -DLINKWORK_TESTS=OFF -DLINKWORK_FUZZ=ON \
	    -DLINKWORK_SANITIZE=fuzzer-no-link,address,undefined
	@cmake --build build-fuzz --target fuzz-model fuzz-expression fuzz-table fuzz-mesh fuzz-urdf fuzz-sdf fuzz-mjcf fuzz-simscape -j $(JOBS)
	@bash tests/fuzz/run build-fuzz $(SECONDS)

fuzz-merge: ## keep what fuzzing found: new inputs that reach new code go to tests/fuzz/corpus
	@bash tests/fuzz/run build-fuzz merge

bench: setup ## time the dynamics of trees, closed loops, bodies without mass, steps of director; figures also in results/bench*.csv
	@$(CONFIGURE) -B build-bench -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=OFF -DLINKWORK_BENCH=ON
	@cmake --build build-bench --target bench-tree bench-loops bench-steps bench-bounded bench-massless bench-director bench-choice bench-balance bench-derivatives bench-prediction linkwork-program -j $(JOBS)
	@mkdir -p results && build-bench/bench/bench-tree --csv results/bench.csv
	@echo "" && build-bench/bench/bench-loops --csv results/bench-loops.csv
	@echo "" && build-bench/bench/bench-steps --csv results/bench-steps.csv
	@echo "" && build-bench/bench/bench-bounded 20000 3
	@echo "" && build-bench/bench/bench-massless --csv results/bench-massless.csv
	@echo "" && build-bench/bench/bench-director --csv results/bench-director.csv
	@echo "" && build-bench/bench/bench-choice --csv results/bench-choice.csv
	@echo "" && build-bench/bench/bench-derivatives --csv results/bench-derivatives.csv
	@echo "" && build-bench/bench/bench-balance --csv results/bench-balance.csv
	@echo "" && build-bench/bench/bench-prediction --csv results/bench-prediction.csv
	@echo "" && python3 bench/large build-bench/linkwork --csv results/bench-large.csv

bench-peers: setup ## the same models in other engines (installs them from Debian); results/bench-peers.csv
	@bash tools/setup_peers
	@$(CONFIGURE) -B build-bench -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=OFF -DLINKWORK_BENCH=ON \
	    -DLINKWORK_BENCH_PEERS=ON
	@cmake --build build-bench --target bench-peers -j $(JOBS)
	@mkdir -p results && build-bench/bench/peers/bench-peers --csv results/bench-peers.csv

bench-python: setup ## calls and runs from Python next to C, mujoco and pinocchio (pip fetches these); results/bench-python.csv
	@$(CONFIGURE) -B build -DLINKWORK_PYTHON_PACKAGE=ON
	@cmake --build build -j $(JOBS) --target linkwork-python linkwork-program
	@$(CONFIGURE) -B build-bench -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=OFF -DLINKWORK_BENCH=ON
	@cmake --build build-bench -j $(JOBS) --target bench-python-loops
	@bash bench/python/run build build-bench

comparison: build ## measure every method on six mechanisms; rewrites the tables of docs/comparison.md
	@python3 tools/comparison build/linkwork

endurance: setup ## a million steps by the energy-momentum scheme and at equal cost by others (15 min); rewrites docs/endurance.md
	@$(CONFIGURE) -B build-bench -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=OFF -DLINKWORK_BENCH=ON
	@cmake --build build-bench --target bench-endurance -j $(JOBS)
	@mkdir -p results && build-bench/bench/bench-endurance >results/endurance.md; status=$$?; \
	sed -i -e '/^<!-- measured -->$$/,/^<!-- end -->$$/{/^<!--/!d}' -e '/^<!-- measured -->$$/r results/endurance.md' \
	    docs/endurance.md; exit $$status

install: build ## install program, library, headers, CMake and pkg-config files under PREFIX
	@cmake --build build --target linkwork linkwork-core linkwork-shared linkwork-program linkwork-fmu -j $(JOBS)
	@cmake --install build --prefix "$(PREFIX)"

deb: setup ## Debian packages of the program and of the library, build-deb/*.deb
	@bash tools/setup --windows
	@cmake -G Ninja -B build-deb -DCMAKE_BUILD_TYPE=Release -DLINKWORK_TESTS=OFF -DLINKWORK_MPI=OFF -DCMAKE_INSTALL_PREFIX=/usr -DLINKWORK_FMU_WINDOWS=ON \
	    -DLINKWORK_ZSH_FOLDER=zsh/vendor-completions
	@cmake --build build-deb --target linkwork linkwork-core linkwork-shared linkwork-program linkwork-fmu -j $(JOBS)
	@cd build-deb && rm -f *.deb && cpack -G DEB && ls -l *.deb

test-deb: deb ## lints the packages, installs and runs them in a bare Debian
	@bash tests/package/deb build-deb

dist: build ## a tarball with the program and the libraries it needs beside it, for other Linux systems: build-dist/
	@bash tools/setup --windows
	@bash packaging/dist build build-dist

test-dist: dist ## the tarball where there is nothing but glibc
	@bash tests/package/dist build-dist

clean: ## remove everything built
	rm -rf build build-asan build-tsan build-bench build-fuzz build-deb build-dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F '|' '{ printf "%-22s %s\n", $$1, $$2 }'
