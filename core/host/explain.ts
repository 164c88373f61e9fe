import type { Snapshot } from '../registry/index.ts';
import type { EffectNode, PluginStatus } from '../sdk/index.ts';
import { strandedBy } from './plan.ts';
import type { QuarantineEntry } from './context/ports.ts';
import type { Attempt, PluginRecord, PluginState } from './record.ts';

/** Everything worth knowing of one plugin: what `svc plugin why` prints and the plugin page shows. */
export interface PluginReport extends PluginStatus {
  readonly state: PluginState;
  readonly lastAttempt: Attempt | undefined;
  readonly quarantine: QuarantineEntry | undefined;
}

export function reportOn(
  record: PluginRecord,
  snapshot: Snapshot,
  quarantine: QuarantineEntry | undefined,
): PluginReport {
  const { manifest, serving } = record;
  return {
    id: record.id,
    version: (serving?.manifest ?? manifest)?.version,
    title: manifest?.title,
    description: manifest?.description,
    kind: manifest?.kind,
    critical: manifest?.critical === true,
    path: record.folder.path,
    state: record.state,
    stage: record.stage,
    cause: record.cause,
    since: record.since,
    generation: serving?.number,
    lastAttempt: record.lastAttempt,
    requires: (manifest?.requires ?? []).map(({ service, range }) => `${service} ${range}`),
    provides: (manifest?.provides ?? []).map(({ service, version }) => `${service} ${version}`),
    // Lists of plugins are requested every few seconds, and need neither.
    get dependents() {
      return serving ? strandedBy(new Set([record.id]), snapshot) : [];
    },
    get effects() {
      return declaredAndOwned(record);
    },
    draining: [...record.draining],
    residue: record.residue,
    strikes: record.strikes,
    quarantine,
  };
}

/** The effect tree: what the snapshot shows of the plugin, then what its scope owns. */
function declaredAndOwned({ draft }: PluginRecord): EffectNode | undefined {
  if (!draft) {
    return undefined;
  }
  const declared = Object.entries(draft.tables)
    .filter(([, entries]) => entries.size > 0)
    .map(([name, entries]) => ({
      label: name,
      children: [...entries.keys()].map((key) => ({ label: key, children: [] })),
    }));
  const owned = draft.generation.scope.effects();
  return { label: owned.label, children: [...declared, ...owned.children] };
}
