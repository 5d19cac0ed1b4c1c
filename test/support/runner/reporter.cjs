const Mocha = require('mocha');

/** Mocha's spec reporter, ending with a line that CI and people can read: `N passed, N failed`. */
module.exports = class ClosingLineReporter extends Mocha.reporters.Spec {
  /** Called by mocha when all has ended; what failed after the last test is counted. */
  done(failures, finish) {
    process.stdout.write(`${this.stats.passes} passed, ${failures} failed\n`);
    finish(failures);
  }
};
