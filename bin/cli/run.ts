import { dataOf, wordsOf, type Call, execute, type ExitCode } from 'svc/cli';
import { shellOf } from './shell.ts';
import { builtIn } from './built-in.ts';
import { Catalogue, type Found } from './catalogue.ts';

/** Runs a command line, prints the result, and resolves with the exit code. */
export const run = (args: readonly string[], environment: Call['environment']): Promise<ExitCode> =>
  execute(args, environment, async () => {
    const all = (): Promise<Catalogue> => everything(args, environment);
    const { name, entry, rest } = quick(args) ?? (await all()).find(args);
    const { command } = await entry.load(all);
    return {
      name,
      command,
      run: (call) => command.run(call, shellOf(call)),
      rest,
      page: async () => (await import('./page.ts')).pageOf(name, entry.summary, command),
    };
  });

/** Finds built-in commands without reading any plugin. */
function quick(args: readonly string[]): Found | undefined {
  const found = new Catalogue(Object.entries(builtIn)).named(args);
  // `edge list` may belong to a plugin though `edge` does not.
  return found && found.name.split(' ').length === Math.min(2, wordsOf(args).length)
    ? found
    : undefined;
}

async function everything(
  args: readonly string[],
  environment: Call['environment'],
): Promise<Catalogue> {
  const { offered } = await import('./offered.ts');
  return await offered({ ...environment, ...dataOf(args) });
}
