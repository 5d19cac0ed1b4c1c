// Most processes of tests live for seconds: what V8 makes of their functions for a long life, it makes later.
// V8 13, of Node 24, has no such setting.
const { versions } = process;
if (Number.parseInt(versions.v8) < 13) {
  require('node:v8').setFlagsFromString('--interrupt-budget=1500000');
}
