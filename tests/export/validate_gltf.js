// Judges .glb files by Khronos' gltf-validator. Call: node validate_gltf.js FILE...
// Prints every error and warning; exit status 1 if there is one. NODE_PATH names the folder of the package.
const fs = require('fs'), validator = require('gltf-validator');
let faults = 0;
(async () => {
  for (const path of process.argv.slice(2)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)), {maxIssues: 50});
    const bad = report.issues.messages.filter(m => m.severity < 2);
    for (const m of bad) console.log(`${path}: ${m.code} ${m.pointer}: ${m.message}`);
    faults += report.issues.numErrors + report.issues.numWarnings;
    const told = [...new Set(report.issues.messages.filter(m => m.severity >= 2).map(m => m.code))];
    console.log(`${path}: ${report.issues.numErrors} errors, ${report.issues.numWarnings} warnings, ` +
                `${report.issues.numInfos} notes, ${report.issues.numHints} hints ${told.join(' ')}`);
  }
  console.log(`${process.argv.length - 2} files, ${faults} faults`);
  process.exit(faults ? 1 : 0);
})();
