import { type Command, Failure, printable } from 'svc/cli';
import { startFleet } from './sim/fleet.ts';
import { simOptions } from './sim/options.ts';
import { progressLine, summary } from './sim/report.ts';

const tellMs = 1_000;

export const command: Command = {
  operands: [],
  options: {
    manager: { value: 'url', about: 'where the manager is' },
    token: {
      value: 'token',
      about:
        'an enrolment token with as many uses as there are hosts; or in SVC_EDGE_TOKEN. Hosts that have their keys need none',
    },
    count: { value: 'n', about: 'how many hosts; default 10' },
    ramp: {
      value: 'seconds',
      about:
        'they come one after the other over so many seconds; default one second for each hundred',
    },
    seed: {
      value: 'text',
      about: 'the same seed brings the same hosts again, with the keys of the last time; default 1',
    },
    'fail-prob': {
      value: '0…1',
      about:
        'chance of a fault in each interval and each answer of a host: a reset, a broken push, a slow answer; default 0',
    },
    interval: { value: 'seconds', about: 'how often each host pushes its metrics; default 15' },
    metrics: {
      value: 'full|snapshot',
      about:
        'what each push has: about forty series as an agent sends them, or the thirteen of a host snapshot; default full',
    },
    'logs-per-second': { value: 'n', about: 'log lines of each host; default 0' },
    'requests-per-minute': {
      value: 'n',
      about:
        'requests of each application: eight hosts are one, and each asks the next ones to serve a request, which leaves spans; default 0, and no applications',
    },
    past: {
      value: 'seconds',
      about:
        'how much of the time before they came hosts tell of at first, minute by minute; default 0',
    },
    fault: {
      value: 'kind:host',
      about:
        'what goes wrong with one of them: cpu, memory, disk or io, such as cpu:3; hosts that depend on it slow down too',
    },
    'fault-after': {
      value: 'seconds',
      about: 'when that begins, from the start of the host; default 0',
    },
  },
  about:
    'Simulates a fleet, to see what a manager carries: each host enrols, keeps a tunnel, answers what it is asked and pushes what it measures. On loopback each dials from an address of its own; elsewhere the limits for one address hold. A line a second tells how it goes; SIGINT ends it with a summary. Keys are kept in the data folder.',
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
