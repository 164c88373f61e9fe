import { askEdge } from '../index.ts';
import { type Command, unreachable, printable, table, paintedState } from 'svc/cli';
import { edgeEnvironment } from '../data-dir.ts';

interface Status {
  readonly pid: number;
  readonly version: string;
  readonly started_at: string;
  readonly ok: boolean;
  readonly plugins: readonly {
    readonly id: string;
    readonly state: string;
    readonly cause: string | null;
  }[];
  readonly checks: readonly {
    readonly label: string;
    readonly ok: boolean;
    readonly detail?: string;
  }[];
}

export const command: Command = {
  operands: [],
  options: {},
  about:
    "Shows this machine's agent: its plugins, its tunnel and the data queued on disk. Exits with 1 if a check fails.",
  example: 'svc edge status',

  async run(call) {
    const dataDir = edgeEnvironment(call.environment).SVC_DATA_DIR;
    const status = (await askEdge(dataDir)) as Status | undefined;
    if (!status) {
      throw unreachable(
        `no agent is running with the data folder ${dataDir}: start it with "svc edge --data ${dataDir}", or name another folder with --data`,
      );
    }
    return {
      data: status,
      code: status.ok ? 0 : 1,
      text: (paint) =>
        [
          `svc v${printable(status.version)} edge, process ${status.pid}, since ${printable(status.started_at)}`,
          ...status.checks.map(
            ({ label, ok, detail }) =>
              `${ok ? paint.good('ok') : paint.bad('not ok')}  ${printable(label)}${detail === undefined ? '' : `: ${printable(detail)}`}`,
          ),
          table([
            ['PLUGIN', 'STATE', 'CAUSE'],
            ...status.plugins.map(({ id, state, cause }) => [
              id,
              paintedState(state, paint),
              printable(cause ?? ''),
            ]),
          ]),
        ].join('\n'),
    };
  },
};
