import type { KnowledgeShelf, ShelvedDocument } from 'svc/contracts/knowledge';
import { DueWork } from 'svc/flow';
import type { Handle, Logger } from 'svc/sdk';

import type { RunRow, RunStore } from './run-store.ts';

export interface ShelvingParts {
  readonly store: RunStore;
  /** Store of documents; its plugin may be missing. */
  readonly shelf: Handle<KnowledgeShelf>;
  readonly markdown: (runId: number) => Promise<string>;
  readonly log: Logger;
  /** Calls once, after so many milliseconds. */
  readonly later: (ms: number, work: () => void) => void;
}

/** Folder of the documents. */
export const reportsFolder = 'reports';
/** The newest; older ones are found by their incidents. */
const mostReports = 500;
const retryMs = 30_000;

/** Reports as documents, so that they are found with all else that the team knows. */
export class Shelving {
  readonly #parts: ShelvingParts;
  readonly #loop: DueWork;

  constructor(parts: ShelvingParts) {
    const { shelf, log, later } = parts;
    this.#parts = parts;
    this.#loop = new DueWork({
      work: async () => void (shelf.available && (await this.#bring(shelf.get()))),
      failed: (error, cause) =>
        log.warn(
          { event: 'investigate.reports_not_shelved', error },
          `failed to store reports as documents: ${cause}`,
        ),
      retryMs,
      later,
    });
  }

  /** Schedules a run, because reports have changed, or the document store has. */
  due(): void {
    this.#loop.due();
  }

  /** Runs until the plugin stops. */
  async run(signal: AbortSignal): Promise<void> {
    this.#loop.due();
    await this.#loop.run(signal);
  }

  async #bring(shelf: KnowledgeShelf): Promise<void> {
    const { store, markdown } = this.#parts;
    const [known, runs] = [
      await shelf.marks(reportsFolder),
      await store.ready(mostReports, undefined),
    ];
    const fresh = runs.filter((run) => known.get(nameOf(run)) !== markOf(run));
    const names = new Set(runs.map(nameOf));
    const gone = [...known.keys()].filter((name) => !names.has(name));
    if (fresh.length + gone.length > 0) {
      const documents: ShelvedDocument[] = [];
      for (const run of fresh) {
        documents.push(documentOf(run, await markdown(run.id)));
      }
      await shelf.put(reportsFolder, documents, gone);
    }
  }
}

const nameOf = ({ incident_id: incident, id }: RunRow): string =>
  `incident-${incident}-report-${id}.md`;
/** A model may have a second word. */
const markOf = ({ ready_at: at, mode }: RunRow): string => `${at} ${mode}`;

function documentOf(run: RunRow, content: string): ShelvedDocument {
  const title = /^# (.+)$/m.exec(content)?.[1] ?? `Incident ${run.incident_id}`;
  return {
    name: nameOf(run),
    title: title.slice(0, 200),
    tags: ['report', run.rule_key.slice(0, 60)],
    content,
    mark: markOf(run),
  };
}
