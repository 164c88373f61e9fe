import 'reflect-metadata';

/** One program, two roles: the command line, and the restricted process in which the code of a pack runs. */
async function main(): Promise<void> {
  if (process.env['SVC_ROLE'] === 'child') {
    await import('../core/isolate/child-main.ts');
    return;
  }
  const { run } = await import('./cli/run.ts');
  process.exitCode = await run(process.argv.slice(2), process.env);
}

void main();
