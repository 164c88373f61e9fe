import { type Command, Failure, printable } from 'svc/cli';
import { startFleet } from './sim/fleet.ts';
import { simOptions } from './sim/options.ts';
import { progressLine, summary } from './sim/report.ts';

const tellMs = 1_000;

export const command: Command = {
  operands: [],
  options: {
    manager: { value: 'url', about: "manager's address" },
    token: {
      value: 'token',
      about:
        'enrolment token, valid for as many uses as there are hosts; or set SVC_EDGE_TOKEN. Not needed for hosts that already have their keys',
    },
    count: { value: 'n', about: 'number of hosts; default 10' },
    ramp: {
      value: 'seconds',
      about: 'seconds over which to spread the connections; default: one second per hundred hosts',
    },
    seed: {
      value: 'text',
      about: 'simulation seed: the same seed gives the same hosts and reuses their keys; default 1',
    },
    'fail-prob': {
      value: '0…1',
      about:
        'probability of a fault per interval and per host response: a reset, a failed push or a slow response; default 0',
    },
    interval: { value: 'seconds', about: "seconds between a host's metric pushes; default 15" },
    metrics: {
      value: 'full|snapshot',
      about:
        'content of each push: full (about forty series, as an agent sends) or snapshot (thirteen); default full',
    },
    'logs-per-second': { value: 'n', about: 'log lines per second for each host; default 0' },
    'requests-per-minute': {
      value: 'n',
      about:
        'requests per minute to each application, to produce spans; an application is eight hosts that call one another in a chain; default 0: no applications',
    },
    past: {
      value: 'seconds',
      about: 'seconds of history to send on connecting, one sample per minute; default 0',
    },
    fault: {
      value: 'kind:host',
      about:
        'fault on one host: cpu, memory, disk or io, such as cpu:3; hosts that depend on it slow down too',
    },
    'fault-after': {
      value: 'seconds',
      about: "seconds from the host's start until the fault begins; default 0",
    },
  },
  about:
    'Simulates a fleet to put load on a manager: each host enrols, keeps a tunnel open, answers calls and pushes metrics. On loopback, each host connects from its own address; elsewhere, all hosts share one address and its limits. Prints one line a second; SIGINT stops the simulation and prints a summary. Keys are kept in the data folder.',
  example:
    'svc edge-sim --manager http://127.0.0.1:8080 --token svc_enrol_… --count 1000 --ramp 10',

  async run(call, shell) {
    const options = simOptions(call);
    const fleet = startFleet(options, await shell.dataDir(), shell);
    const begun = performance.now();
    const seconds = (): number => Math.round((performance.now() - begun) / 1_000);
    let before = fleet.figures();
    const telling = setInterval(() => {
      const now = fleet.figures();
      process.stderr.write(
        `${call.json ? JSON.stringify({ seconds: seconds(), ...now }) : printable(progressLine(seconds(), before, now))}\n`,
      );
      before = now;
    }, tellMs);
    const stop = (): void => fleet.stop();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    const { refusal } = await fleet.ended;
    clearInterval(telling);
    process.off('SIGINT', stop).off('SIGTERM', stop);
    const figures = fleet.figures();
    if (figures.connects === 0 && refusal !== undefined) {
      throw new Failure(4, 'unauthorized', refusal);
    }
    return {
      data: { seconds: seconds(), ...figures },
      text: () => summary(seconds(), figures).map(printable).join('\n'),
    };
  },
};
