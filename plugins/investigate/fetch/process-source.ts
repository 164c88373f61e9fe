import type { EdgeFleet } from 'svc/contracts/edge';
import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { SeenDevices } from 'svc/query';
import type { Handle } from 'svc/sdk';

/** Processes that used the most of a host, as its agent remembers them. */
export interface Remembered {
  readonly processes: readonly {
    readonly pid: number;
    readonly name: string;
    readonly user: string | null;
    readonly started_at: number | null;
    /** `[time, percent of a core, resident bytes, bytes read and written a second]`, oldest first. */
    readonly uses: readonly (readonly [number, number, number, number])[];
  }[];
}

const method = 'process_history';
const patienceMs = 5_000;
const mostProcesses = 60;
const mostUses = 400;
const longestName = 60;

export const processQuery = (device: string): string => `device_id=${device}`;

/** Asks the agent of a host for its process table in a time. Agents of earlier versions remember none, and some hosts have no agent. */
export const processSource = (fleet: Handle<EdgeFleet>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question, signal: AbortSignal): Promise<Answer> {
    const device = Number(/^device_id=(\d+)$/.exec(query)?.[1]);
    const isHidden = !fleet.available || seen?.ids.has(device) === false;
    const edges = isHidden ? [] : fleet.get().list();
    const edge = edges.find(({ device_id: id }) => id === device);
    const remembers =
      edge !== undefined && fleet.get().capabilities(edge.id)?.methods.includes(method) === true;
    const value: Remembered = remembers
      ? readIn(
          await fleet
            .get()
            .call(
              edge.id,
              method,
              { from: window.from, to: window.to },
              { timeoutMs: patienceMs, signal },
            ),
        )
      : { processes: [] };
    return {
      value,
      digest: {
        processes: value.processes.length,
        most: value.processes.slice(0, 3).map(({ name, user }) => ({ name, user })),
      },
      trust: 'untrusted',
    };
  },
});

type Process = Remembered['processes'][number];

/** Takes of an agent's answer what has the right form: its machine may not be ours. */
function readIn(answer: unknown): Remembered {
  const listed = fieldOf(answer, 'processes');
  return {
    processes: (Array.isArray(listed) ? listed : []).slice(0, mostProcesses).flatMap(processIn),
  };
}

function processIn(found: unknown): readonly Process[] {
  const [pid, name, user, started] = ['pid', 'name', 'user', 'started_at'].map((key) =>
    fieldOf(found, key),
  );
  const uses = fieldOf(found, 'uses');
  return typeof pid === 'number' && typeof name === 'string' && Array.isArray(uses)
    ? [
        {
          pid,
          name: plain(name),
          user: typeof user === 'string' ? plain(user) : null,
          started_at: typeof started === 'number' ? started : null,
          uses: uses.slice(-mostUses).filter(isUse),
        },
      ]
    : [];
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;

const isUse = (use: unknown): use is Process['uses'][number] =>
  Array.isArray(use) && use.length === 4 && use.every((figure) => Number.isFinite(figure));

export const plain = (name: string): string =>
  name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, longestName);
