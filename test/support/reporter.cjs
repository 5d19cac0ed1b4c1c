const Mocha = require('mocha');

/** Mocha's spec reporter, ending with a line that CI and people can read: `N passed, N failed`. */
module.exports = class ClosingLineReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      // The spec reporter prints its own summary at the same event; this line comes after it.
      setImmediate(() => process.stdout.write(closingLine(this.stats)));
    });
  }

  done(failures, finish) {
    setImmediate(() => finish(failures));
  }
};

const closingLine = ({ passes, failures }) => `${passes} passed, ${failures} failed\n`;
