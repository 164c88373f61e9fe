import { catalogue, findCommand } from './catalogue.ts';
import type { Call } from './command.ts';
import { execute } from './execute.ts';
import type { ExitCode } from './failure.ts';

/** Runs what was typed, prints what came of it, and resolves with the exit code. */
export const run = (args: readonly string[], environment: Call['environment']): Promise<ExitCode> =>
  execute(args, environment, async () => {
    const { name, rest } = findCommand(args);
    const { command } = await catalogue[name]!.load();
    return { name, command, rest, page: async () => (await import('./page.ts')).pageOf(name, command) };
  });
