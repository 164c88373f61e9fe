import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Evidence, Tool } from 'svc/contracts/skill';
import type { SvcError } from 'svc/sdk';
import { type Clock, covers, mayRead, type Principal, type Settings, type Tables } from 'svc/sdk';

import { errors } from './errors.ts';
import { type EvidenceText, evidenceTextOf, maxKeptBytes } from './evidence-text.ts';
import type { SkillTables } from './tables.ts';

export interface EvidenceParts {
  readonly tables: Tables<SkillTables>;
  readonly folder: string;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly toolOf: (key: string) => Pick<Tool, 'reads'> | undefined;
}

const dayMs = 86_400_000;
const longestParams = 16_000;

/** A result as it is read back. */
export interface KeptEvidence {
  readonly evidence: Evidence;
  readonly text: string;
  /** JSON of the params of its call; null: they were not kept. */
  readonly params: string | null;
  readonly createdAt: number;
}

/**
 * Store of results that are too large for one answer: a row for each, and its text in a file.
 * Bounded in total and in time.
 */
export class EvidenceStore {
  readonly #parts: EvidenceParts;

  constructor(parts: EvidenceParts) {
    this.#parts = parts;
  }

  /** Takes text that has been guarded already. */
  async keep(
    { kept, ...measures }: EvidenceText,
    about: {
      readonly tool: string;
      readonly trust: Evidence['trust'];
      readonly principal: Principal;
      /** Guarded already. */
      readonly params?: unknown;
    },
  ): Promise<Evidence> {
    const { tables, folder, clock } = this.#parts;
    const { tool, trust } = about;
    const by = { owner: ownerOf(about.principal), selectors: selectorsOf(about.principal) };
    const row = {
      tool,
      ...measures,
      truncated: Number(measures.truncated),
      trust,
      ...by,
      params:
        about.params === undefined ? null : JSON.stringify(about.params).slice(0, longestParams),
      created_at: clock.now(),
    };
    const { id } = await tables.write((tx) =>
      tx.insertInto('skill_evidence').values(row).returning('id').executeTakeFirstOrThrow(),
    );
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = this.#fileOf(id);
    const handle = await open(`${file}.part`, 'w', 0o600);
    try {
      await handle.writeFile(kept);
    } finally {
      await handle.close();
    }
    await rename(`${file}.part`, file);
    return { id: `E${id}`, tool, ...measures, trust };
  }

  /**
   * Returns the text of evidence that the principal may read: their own, what no person has
   * requested, or everything for an administrator. Users with access to some devices read what they
   * have requested under the same selectors. An API token needs a grant for each area that the tool
   * shows, as it does to call it.
   */
  async read(name: string, principal: Principal): Promise<KeptEvidence> {
    const id = /^E([1-9]\d{0,14})$/.exec(name)?.[1];
    const row =
      id &&
      (await this.#parts.tables.read
        .selectFrom('skill_evidence')
        .selectAll()
        .where('id', '=', Number(id))
        .executeTakeFirst());
    if (!row || !isFor(principal, row)) {
      throw absent(name);
    }
    this.#checkAreas(name, row.tool, principal);
    const { tool, bytes, sha256, truncated, trust, params, created_at: createdAt } = row;
    return {
      params,
      createdAt,
      evidence: { id: name, tool, bytes, sha256, truncated: truncated === 1, trust },
      text: await this.#text(row.id, name, truncated === 1 ? undefined : sha256),
    };
  }

  /**
   * Deletes expired evidence, then the oldest until the rest fits; resolves with the number
   * deleted.
   */
  async tidy(): Promise<number> {
    const { tables, settings, clock } = this.#parts;
    const oldest = clock.now() - settings.get<number>('skill.evidence_days') * dayMs;
    let room = settings.get<number>('skill.evidence_mb') * 1_024 * 1_024;
    const rows = await tables.read
      .selectFrom('skill_evidence')
      .select(['id', 'bytes', 'created_at'])
      .orderBy('id', 'desc')
      .execute();
    const gone = rows.filter(({ bytes, created_at: at }) => {
      room -= Math.min(bytes, maxKeptBytes);
      return room < 0 || at < oldest;
    });
    await this.#remove(gone);
    return gone.length;
  }

  /** Deletes the evidence of deleted tools. */
  async forget(tools: readonly string[]): Promise<void> {
    if (tools.length > 0) {
      await this.#remove(
        await this.#parts.tables.read
          .selectFrom('skill_evidence')
          .select('id')
          .where('tool', 'in', tools)
          .execute(),
      );
    }
  }

  async #remove(gone: readonly { readonly id: number }[]): Promise<void> {
    for (const { id } of gone) {
      // A row without its file answers "not kept any more"; a file without its row would stay for good.
      await rm(this.#fileOf(id), { force: true });
      await rm(`${this.#fileOf(id)}.part`, { force: true });
      await this.#parts.tables.write((tx) =>
        tx.deleteFrom('skill_evidence').where('id', '=', id).execute(),
      );
    }
  }

  #checkAreas(name: string, tool: string, principal: Principal): void {
    const known = this.#parts.toolOf(tool);
    // Tools that name no area, such as those of hosts, show what belongs to a device. What one that
    // is gone has shown is unknown: only who may read everything may read that.
    const areas = known ? (known.reads ?? ['device']) : ['*'];
    const unread = areas.find((area) => !mayRead(principal, area));
    if (unread !== undefined) {
      throw errors.evidence_area({ name, tool, action: `read:${unread}` });
    }
  }

  /** `sha256`: of the whole text, if the file has all of it. */
  async #text(id: number, name: string, sha256: string | undefined): Promise<string> {
    try {
      const handle = await open(this.#fileOf(id));
      try {
        const text = await handle.readFile('utf8');
        if (sha256 !== undefined && evidenceTextOf(text).sha256 !== sha256) {
          throw errors.evidence_damaged({ name: name.slice(0, 40), file: this.#fileOf(id) });
        }
        return text;
      } finally {
        await handle.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        throw absent(name);
      }
      throw error;
    }
  }

  #fileOf(id: number): string {
    return join(this.#parts.folder, `E${id}.txt`);
  }
}

function isFor(
  principal: Principal,
  { owner, selectors }: { readonly owner: string; readonly selectors: string | null },
): boolean {
  const own = owner === ownerOf(principal);
  if (principal.selectors !== undefined) {
    return own && selectors === selectorsOf(principal);
  }
  return (
    own || /^(?:system|plugin):/.test(owner) || principal.grants.some((grant) => covers(grant, '*'))
  );
}

const selectorsOf = ({ selectors }: Principal): string | null =>
  selectors === undefined ? null : JSON.stringify(selectors);

/** A person and their API tokens are the same owner. */
const ownerOf = ({ kind, id }: Principal): string => `${kind === 'token' ? 'user' : kind}:${id}`;

const absent = (name: string): SvcError => errors.no_evidence({ name: name.slice(0, 40) });
