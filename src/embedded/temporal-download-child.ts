import { TestWorkflowEnvironment } from '@temporalio/testing';

// Only for the download that comes before: the server is ended as soon as it runs.
const [downloadDir = '', version = ''] = process.argv.slice(2);
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, version } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  // The SDK's message repeats the address; its last two parts are the reason.
  const text = error instanceof Error ? error.message : String(error);
  process.send?.(text.split(': ').slice(-2).join(': '), () => process.exit(1));
}
