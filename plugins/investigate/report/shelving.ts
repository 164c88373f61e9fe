import { type Handle, type Logger, messageOf } from 'svc/sdk';

import type { KnowledgeShelf, ShelvedDocument } from '../../knowledge/contract.ts';
import type { RunRow, RunStore } from '../run-store.ts';

export interface ShelvingParts {
  readonly store: RunStore;
  /** The room that keeps documents may be away. */
  readonly shelf: Handle<KnowledgeShelf>;
  readonly markdown: (runId: number) => Promise<string>;
  /** Runs work until the plugin leaves. */
  readonly task: (work: () => Promise<void>) => void;
  readonly log: Logger;
}

/** Of the documents. */
export const reportsFolder = 'reports';
/** The newest; older ones are found by their incidents. */
const mostReports = 500;

/** Reports as documents, so that they are found with all else that the team knows. */
export class Shelving {
  readonly #parts: ShelvingParts;
  #isRunning = false;
  #isDue = false;

  constructor(parts: ShelvingParts) {
    this.#parts = parts;
  }

  /** Reports have come or gone, or the room for documents has. */
  due(): void {
    this.#isDue = true;
    if (!this.#isRunning) {
      this.#isRunning = true;
      this.#parts.task(() => this.#run().finally(() => (this.#isRunning = false)));
    }
  }

  async #run(): Promise<void> {
    const { shelf, log } = this.#parts;
    while (this.#isDue && shelf.available) {
      this.#isDue = false;
      try {
        await this.#bring(shelf.get());
      } catch (error) {
        // The next report brings them along.
        log.warn({ event: 'investigate.reports_not_shelved', error }, `reports are not found among the documents yet: ${messageOf(error)}`);
      }
    }
  }

  async #bring(shelf: KnowledgeShelf): Promise<void> {
    const { store, markdown } = this.#parts;
    const [known, runs] = [await shelf.marks(reportsFolder), await store.ready(mostReports)];
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

const nameOf = ({ incident_id: incident, id }: RunRow): string => `incident-${incident}-report-${id}.md`;
/** A model may have a second word. */
const markOf = ({ ready_at: at, mode }: RunRow): string => `${at} ${mode}`;

function documentOf(run: RunRow, content: string): ShelvedDocument {
  const title = /^# (.+)$/m.exec(content)?.[1] ?? `Incident ${run.incident_id}`;
  return { name: nameOf(run), title: title.slice(0, 200), tags: ['report', run.rule_key.slice(0, 60)], content, mark: markOf(run) };
}
