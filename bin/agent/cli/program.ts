import { execute, usageFailure, type Call } from 'svc/cli';
import { command } from './run.ts';

/** The one command of the small program; the launcher asks the large one for help. */
export const runEdge = (
  args: readonly string[],
  environment: Call['environment'],
): Promise<number> =>
  execute(args, environment, async () => ({
    name: 'edge',
    command,
    run: (call) => command.run(call),
    rest: args.filter((_, index) => index !== args.indexOf('edge')),
    page: async () => {
      throw usageFailure('see "svc help edge"');
    },
  }));
