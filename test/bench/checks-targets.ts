import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What checks of a bench or a drill asked, in a process of its own that does little else. */
export interface Asked {
  /** When, in milliseconds of a clock that never jumps, by the path that was asked. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  /** Milliseconds by which each timer of the process was late: what the machine itself adds. */
  readonly late: readonly number[];
}

const everyMs = 100;

const [host = '127.0.0.1', port = '0'] = process.argv.slice(2);
let times: Record<string, number[]> = {};
let late: number[] = [];
const server = createServer((request, response) => {
  (times[request.url!] ??= []).push(performance.now());
  response.end('ok');
});
process.on('message', () => {
  process.send!({ times, late } satisfies Asked);
  [times, late] = [{}, []];
});
process.on('disconnect', () => process.exit());
server.listen({ port: Number(port), host, backlog: 1_024 }, () =>
  process.send!({ port: (server.address() as AddressInfo).port }),
);

const wait = (from: number): void => {
  setTimeout(() => {
    late.push(performance.now() - from - everyMs);
    wait(performance.now());
  }, everyMs);
};
wait(performance.now());
