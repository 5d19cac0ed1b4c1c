const Mocha = require('mocha');

/** Mocha's spec reporter, ending with a line that CI and people can read: `N passed, N failed`. */
module.exports = class ClosingLineReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    // What has failed is said at once, too: a run that is ended from outside never comes to its list.
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, (test) => Mocha.reporters.Base.list([test]));
    // Where a process that runs files in parallel dies between two of them, mocha ends without a word and
    // with exit code 0, and whatever had not run yet is missing.
    this.unfinished = () => {
      process.stdout.write(
        'The run has ended before its end: a process of it has died, see above.\n' +
          `${this.stats.passes} passed, ${this.stats.failures + 1} failed\n`,
      );
      process.exitCode = 1;
    };
    process.once('exit', this.unfinished);
  }

  /** Called by mocha when all has ended; what failed after the last test is counted. */
  done(failures, finish) {
    process.off('exit', this.unfinished);
    process.stdout.write(`${this.stats.passes} passed, ${failures} failed\n`);
    finish(failures);
  }
};
