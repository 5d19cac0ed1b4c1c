/** What `npm run test:production` tells its tests about the servers that it has started. */
export function told(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name}: npm run test:production runs this test.`);
  return value;
}
