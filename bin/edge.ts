import 'reflect-metadata';

/** `svc edge` alone: a program of its own, because an agent must be small and the other commands are not. */
async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const { runEdge } = await import('./agent/cli/program.ts');
  process.exitCode = await runEdge(args, process.env);
}

void main();
