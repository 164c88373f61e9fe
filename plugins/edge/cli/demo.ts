import { type Command, usageFailure, printable } from 'svc/cli';
import { Demo } from './demo/demo.ts';

export const command: Command = {
  operands: [],
  options: {
    port: {
      value: 'n',
      about: 'on which it serves, at 127.0.0.1; default 8088, 0 takes one that is free',
    },
    hosts: { value: 'n', about: 'how many are simulated, from 8 to 1000; default 50' },
    'fault-after': { value: 'seconds', about: 'when one of them breaks; default 60' },
  },
  about:
    'A whole svc to look at, without a network or a host of your own: simulated hosts with services that need each other, one of which breaks within a minute. It is alerted, investigated and told here; chat answers by a scripted model. Its data is in a folder of its own, which is removed at the end.',
  example: 'svc demo',

  async run(call, shell) {
    const [port, hosts, seconds] = [
      number(call.value('port'), 'port', 8_088, 0, 65_535),
      number(call.value('hosts'), 'hosts', 50, 8, 1_000),
      number(call.value('fault-after'), 'fault-after', 60, 0, 3_600),
    ];
    const began = performance.now();
    const say = (text: string): void => void process.stderr.write(`${printable(text)}\n`);
    const clock = (): string =>
      `${String(Math.round((performance.now() - began) / 1_000)).padStart(4)} s  `;
    const code = await shell.foreground(
      () =>
        Demo.start({
          shell,
          port,
          hosts,
          faultAfterMs: seconds * 1_000,
          tell: (line) => say(clock() + line),
        }),
      (demo) => {
        say(`A demo of svc serves at ${demo.url}`);
        say(`Sign in as ${demo.email} with ${demo.password}`);
        say(`Ctrl-C ends it and removes its data, ${demo.dataDir}`);
        say(`In another terminal: svc alert list --data ${demo.dataDir}`);
        say(`${clock()}ready; the hosts are coming`);
        void demo.play();
      },
    );
    return { data: undefined, text: () => '', code };
  },
};

function number(
  text: string | undefined,
  name: string,
  usual: number,
  least: number,
  most: number,
): number {
  const value = Number(text ?? usual);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw usageFailure(`--${name} is a whole number from ${least} to ${most}`);
  }
  return value;
}
