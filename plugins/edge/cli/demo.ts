import { type Command, usageFailure, printable } from 'svc/cli';
import { Demo } from './demo/demo.ts';

export const command: Command = {
  operands: [],
  options: {
    port: {
      value: 'n',
      about: 'port on 127.0.0.1; default 8088; 0 picks a free port',
    },
    hosts: { value: 'n', about: 'number of simulated hosts, from 8 to 1000; default 50' },
    'fault-after': { value: 'seconds', about: 'seconds until one host breaks; default 60' },
  },
  about:
    'Runs a complete svc without a network or real hosts: the hosts are simulated, their services depend on each other, and one host breaks within a minute. You see the alert, the investigation and the notification; a scripted model answers in chat. The data is kept in a temporary folder that is removed on exit.',
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
        say(`The demo is ready at ${demo.url}`);
        say(`Sign in as ${demo.email} with password ${demo.password}`);
        say(`Ctrl-C stops it and deletes its data, ${demo.dataDir}`);
        say(`In another terminal: svc alert list --data ${demo.dataDir}`);
        say(`${clock()}ready; hosts are connecting`);
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
    throw usageFailure(`--${name} must be a whole number from ${least} to ${most}`);
  }
  return value;
}
