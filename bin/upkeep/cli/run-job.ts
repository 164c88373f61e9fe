import { messageOf } from '../../../core/sdk/index.ts';
import {
  asFailure,
  type Call,
  type Command,
  clientOptions,
  type ExitCode,
  openClient,
  type Shell,
  usageFailure,
} from 'svc/cli';
import { runJob } from '../job/job.ts';
import { report } from '../job/report.ts';

export const command: Command = {
  operands: ['<command>', '[argument…]'],
  options: {
    beat: { value: 'heartbeat', about: 'name or address of the heartbeat that is told' },
    ...clientOptions,
  },
  about:
    'Runs a command and reports its start, its exit code and the last 100 KB of its output to a heartbeat. The exit code and signals are passed on. The command runs even if svc cannot be reached; the report is then repeated twice and lost.',
  example: 'svc run --beat nightly-backup -- /usr/local/bin/backup --all',

  async run(call, shell) {
    const beat = call.value('beat');
    if (beat === undefined) {
      throw usageFailure('set --beat to the name or the address of a heartbeat');
    }
    const address = await addressOf(beat, call, shell);
    // The job does not wait for it.
    const started = address === undefined ? undefined : report(`${address}/start`);
    const { code, ms, output } = await runJob(call.operand(0), argumentsOf(call));
    const log = Buffer.concat([
      output,
      Buffer.from(`\nended after ${(ms / 1_000).toFixed(1)} s\n`),
    ]);
    if (address !== undefined) {
      // In their order: a start that comes late would count as a run that goes on.
      await started;
      const failure = await report(`${address}/${code}`, log);
      void (failure !== undefined && complain(failure));
    }
    return { data: undefined, text: () => '', code: code as ExitCode };
  },
};

/** The address of a heartbeat; undefined, with a complaint, where it cannot be asked for. */
async function addressOf(beat: string, call: Call, shell: Shell): Promise<string | undefined> {
  if (/^https?:\/\//.test(beat)) {
    return beat.replace(/\/+$/, '');
  }
  try {
    const client = await openClient(call, shell);
    const path = `/api/v1/heartbeats/${encodeURIComponent(beat)}/address`;
    return (await client.get<{ readonly url: string }>(path)).url;
  } catch (error) {
    complain(messageOf(asFailure(error)));
    return undefined;
  }
}

function argumentsOf(call: Call): readonly string[] {
  const words: string[] = [];
  for (let at = 1; ; at++) {
    const word = call.optionalOperand(at);
    if (word === undefined) {
      return words;
    }
    words.push(word);
  }
}

const complain = (why: string): void =>
  void process.stderr.write(`svc: the run was not reported: ${why.replaceAll(/\p{Cc}+/gu, ' ')}\n`);
