import { execute } from '../cli/execute.ts';
import { usageFailure } from '../cli/failure.ts';
import type { Call } from '../cli/command.ts';
import { command } from '../commands/edge/run.ts';

/** The one command of the small program; the launcher asks the large one for help. */
export const runEdge = (
  args: readonly string[],
  environment: Call['environment'],
): Promise<number> =>
  execute(args, environment, async () => ({
    name: 'edge',
    command,
    rest: args.filter((_, index) => index !== args.indexOf('edge')),
    page: async () => {
      throw usageFailure('"svc help edge" shows the page of this command');
    },
  }));
