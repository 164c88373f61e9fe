import { createHash } from 'node:crypto';

import type { Approval, ApprovalAsk, ApprovalBook, ApprovalOwner } from 'svc/contracts/approval';
import type { CallOrigin, GateContract } from 'svc/contracts/gate';
import type { DirectoryContract, Person } from 'svc/contracts/iam';
import type { PersonaDirectory } from 'svc/contracts/persona';
import type { Clock, Handle, Ids, Principal, Tables } from 'svc/sdk';

import { ApprovalStore, type Viewer } from './approval-store.ts';
import { open, required } from './decisions.ts';
import { errors } from './errors.ts';
import { approvalOf } from './shown.ts';
import type { Signers } from './signers.ts';
import type { ApprovalTables, RequestRow } from './tables.ts';

export interface ApprovalServiceParts {
  readonly tables: Tables<ApprovalTables>;
  readonly gate: GateContract;
  readonly directory: Pick<DirectoryContract, 'live'>;
  readonly personas: Handle<Pick<PersonaDirectory, 'find'>>;
  readonly signers: Signers;
  readonly viewerOf: (person: Pick<Principal, 'id' | 'selectors'>) => Promise<Viewer>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  /** Names this start of svc. */
  readonly process: string;
  readonly requested: (row: RequestRow) => void;
  readonly settled: (row: RequestRow) => void;
}

const hourMs = 3_600_000;
const lifeMs = { 1: hourMs, 2: 24 * hourMs };
const origins: Readonly<Record<ApprovalOwner['kind'], CallOrigin>> = {
  chat: 'chat',
  skill: 'api',
  mcp: 'mcp',
};

/** Approvals, for the plugins that request them and execute what was signed. */
export class ApprovalService implements ApprovalBook {
  readonly #parts: ApprovalServiceParts;
  readonly #read: ApprovalStore;

  constructor(parts: ApprovalServiceParts) {
    this.#parts = parts;
    this.#read = new ApprovalStore(parts.tables.read);
  }

  async request(ask: ApprovalAsk): Promise<Approval> {
    const { tables, settled, requested } = this.#parts;
    const row = this.#rowOf(ask);
    const superseded = await tables.write(async (tx) => {
      const store = new ApprovalStore(tx);
      const same = (await store.of(ask.owner)).filter(
        ({ status, tool_call_id: call }) =>
          [...open, 'approved'].includes(status) && call === row.tool_call_id,
      );
      const moved: RequestRow[] = [];
      for (const { id } of same) {
        moved.push(
          (await store.move(id, [...open, 'approved'], {
            status: 'superseded',
            decided_at: row.created_at,
            reason: `superseded by ${row.id}`,
          }))!,
        );
      }
      await store.insert(row);
      return moved;
    });
    superseded.forEach(settled);
    requested(row);
    return approvalOf(row);
  }

  async get(id: string): Promise<Approval | undefined> {
    const row = await this.#read.find(id, undefined);
    return row && approvalOf(row);
  }

  async of(kind: ApprovalOwner['kind'], ref: string): Promise<readonly Approval[]> {
    return (await this.#read.of({ kind, ref })).map(approvalOf);
  }

  async begin(id: string, args: Readonly<Record<string, unknown>>): Promise<Approval> {
    const { tables, clock, process } = this.#parts;
    const row = await required(this.#read, id, undefined);
    if (row.args_sha256 !== digestOf({ ...approvalOf(row), args })) {
      throw errors.args_swapped({ id });
    }
    const objection = row.status === 'approved' ? await this.#objection(row) : undefined;
    if (objection !== undefined) {
      await this.#end(id, { status: 'failed', reason: objection, finished_at: clock.now() });
      throw errors.policy_changed({ objection });
    }
    const begun = await tables.write(async (tx) => {
      const store = new ApprovalStore(tx);
      const now = await required(store, id, undefined);
      return now.expires_at > clock.now()
        ? await store.move(id, ['approved'], {
            status: 'executing',
            begun_at: clock.now(),
            process,
          })
        : undefined;
    });
    if (!begun) {
      const now = await required(this.#read, id, undefined);
      const state = now.status === 'approved' ? 'has expired' : `is ${now.status}`;
      throw errors.not_begun({ id, state });
    }
    return approvalOf(begun);
  }

  async finish(
    id: string,
    { ok, reason, evidence_id }: Parameters<ApprovalBook['finish']>[1],
  ): Promise<void> {
    const { tables, clock } = this.#parts;
    const change = {
      status: ok ? ('executed' as const) : ('failed' as const),
      reason: reason ?? null,
      evidence_id: evidence_id ?? null,
      finished_at: clock.now(),
    };
    const moved = await tables.write((tx) => new ApprovalStore(tx).move(id, ['executing'], change));
    if (!moved) {
      throw errors.not_executing({ id });
    }
  }

  async cancel(id: string, reason: string): Promise<void> {
    await this.#end(id, { status: 'cancelled', reason, decided_at: this.#parts.clock.now() });
  }

  async open(): Promise<readonly Approval[]> {
    return (await this.#read.standing(open)).map(approvalOf);
  }

  async objection(id: string, userId: number): Promise<string | undefined> {
    const person = this.#parts.directory.live(userId);
    if (person?.status !== 'active') {
      return 'this account is not active';
    }
    const row = await required(this.#read, id, undefined);
    return (
      this.#parts.signers.objection(person, row) ??
      ((await this.#isShownTo(person, row))
        ? undefined
        : 'this account does not see the device it is about')
    );
  }

  async #isShownTo({ id, selectors }: Person, row: RequestRow): Promise<boolean> {
    return (
      (await this.#read.find(
        row.id,
        await this.#parts.viewerOf({ id: String(id), ...(selectors && { selectors }) }),
      )) !== undefined
    );
  }

  /** Ends an approval, unless it is decided otherwise, or has begun. */
  async #end(id: string, change: Partial<RequestRow>): Promise<void> {
    const { tables, settled } = this.#parts;
    const moved = await tables.write((tx) =>
      new ApprovalStore(tx).move(id, [...open, 'approved'], change),
    );
    if (moved) {
      settled(moved);
    }
  }

  /**
   * Returns why policy no longer allows what was signed: a signer, the requester, or the persona.
   */
  async #objection(row: RequestRow): Promise<string | undefined> {
    const { gate, personas } = this.#parts;
    const signed = (await this.#read.signaturesOf(row.id)).filter(
      ({ decision }) => decision === 'approved',
    );
    const objections = await Promise.all(
      signed.map(({ user_id: id }) => this.objection(row.id, id)),
    );
    const missing =
      row.signatures - objections.filter((objection) => objection === undefined).length;
    if (missing > 0) {
      return `${missing} of its ${row.signatures} signatures no longer counts, because the account or its role has changed; request the change again`;
    }
    if (row.persona !== null && !personas.available) {
      throw errors.no_personas({ persona: row.persona, id: row.id });
    }
    const persona = row.persona === null ? undefined : personas.get().find(row.persona);
    if (row.persona !== null && persona === undefined) {
      return `the persona ${row.persona} is gone`;
    }
    const answer = gate.decide({
      principal: this.#requester(row),
      tool: {
        key: row.tool,
        class: row.class,
        source: row.target_kind === 'device' ? 'edge' : 'manager',
      },
      origin: origins[row.owner_kind],
      persona,
      tainted: true,
      args: JSON.parse(row.args) as Record<string, unknown>,
    });
    if (answer.verdict === 'refused') {
      return answer.message;
    }
    return answer.verdict === 'approval' && answer.signatures > row.signatures
      ? `${row.tool} now needs ${answer.signatures} signatures`
      : undefined;
  }

  /**
   * Returns the requester for the gate, which checks the account itself: an API token counts as its
   * person, because people have signed.
   */
  #requester({
    requester_kind: kind,
    requester_id: id,
    requester_name: name,
    requester_role: role,
  }: RequestRow): Principal {
    const person = this.#parts.directory.live(Number(id));
    return kind === 'user' || kind === 'token'
      ? {
          kind: 'user',
          id,
          name,
          role,
          grants: person?.grants ?? [],
          ...(person?.selectors && { selectors: person.selectors }),
        }
      : {
          kind: kind as Principal['kind'],
          id,
          name,
          role,
          grants: kind === 'operator' ? ['*'] : [],
        };
  }

  #rowOf(ask: ApprovalAsk): RequestRow {
    const { clock, ids, personas } = this.#parts;
    const { owner, target, requested_by: by, persona } = ask;
    const now = clock.now();
    return {
      id: ids.uuid(),
      owner_kind: owner.kind,
      owner_ref: owner.ref,
      session_id: owner.session_id ?? null,
      tool_call_id: owner.tool_call_id ?? null,
      tool: ask.tool,
      class: ask.class,
      signatures: ask.signatures,
      args: canonical(ask.args),
      args_sha256: digestOf(ask),
      rendered: ask.rendered,
      target_kind: target.kind,
      target_id: target.id ?? null,
      target_name: target.name,
      persona: persona ?? null,
      persona_version:
        (persona !== undefined && personas.available && personas.get().find(persona)?.version) ||
        null,
      requester_kind: by.kind,
      requester_id: by.id,
      requester_name: by.name,
      requester_role: by.role,
      status: 'pending',
      reason: null,
      evidence_id: null,
      process: null,
      created_at: now,
      expires_at: now + lifeMs[ask.signatures],
      decided_at: null,
      begun_at: null,
      finished_at: null,
    };
  }
}

/** The same text for the same value, whatever the order of its fields. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonical(item ?? null)).join(',')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${fields
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Returns the digest that is signed: tool, arguments and target. */
const digestOf = ({
  tool,
  args,
  target: { kind, id },
}: Pick<ApprovalAsk, 'tool' | 'args' | 'target'>): string =>
  createHash('sha256')
    .update(canonical({ tool, args, target: { kind, id: id ?? null } }))
    .digest('hex');
