import type { EdgeEntry } from 'svc/contracts/edge';
import type { DeviceScope } from 'svc/query';
import type { Tables } from 'svc/sdk';

import { DeviceStore } from './store/device-store.ts';
import type { Measures, Values } from './measures.ts';
import { type Comparison, figures, parseSearch, type Sort, type Term } from './search-terms.ts';
import { nameOf, rolesOf, tagsOf } from './shown.ts';
import type { DeviceRow, DeviceTables } from './store/tables.ts';

export interface SearchRequest {
  readonly search: string;
  /** Column, with `-` for the largest first. */
  readonly sort: Sort | `-${Sort}`;
  readonly scope: DeviceScope | undefined;
  /** Figures and alerts, as far as the asker may read them. */
  readonly measures: Asked;
}

type Asked = Pick<Measures, 'of' | 'firing'>;

export interface SearchParts {
  readonly inventory: Inventory;
  /** Agents by the device that each watches. */
  readonly agents: () => ReadonlyMap<number, EdgeEntry>;
  readonly isOnline: (device: number, agent: EdgeEntry | undefined) => boolean;
}

export interface Found {
  readonly known: Known;
  readonly agent: EdgeEntry | undefined;
  readonly isOnline: boolean;
}

type Test = (device: Found) => boolean;

/** Finds devices by what they are, how they are and what they measure. Everything is looked at in memory. */
export class Search {
  readonly #parts: SearchParts;

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  /** Returns all that fit, in order. */
  async run({ search, sort, scope, measures }: SearchRequest): Promise<readonly Found[]> {
    const tests = await Promise.all(
      parseSearch(search).map((term) => this.#testOf(term, measures)),
    );
    const { inventory, agents, isOnline } = this.#parts;
    const agentOf = agents();
    const found = (await inventory.all())
      .filter(({ id }) => scope?.ids.has(id) !== false)
      .map((known): Found => {
        const agent = agentOf.get(known.id);
        return { known, agent, isOnline: isOnline(known.id, agent) };
      })
      .filter((device) => tests.every((test) => test(device)));
    return await this.#sorted(found, sort, measures);
  }

  async #testOf(term: Term, measures: Asked): Promise<Test> {
    const test = await this.#plainTestOf(term, measures);
    return term.isNegated ? (device) => !test(device) : test;
  }

  async #plainTestOf(term: Term, measures: Asked): Promise<Test> {
    switch (term.kind) {
      case 'text':
        return ({ known: { text } }) => text.includes(term.text);
      case 'tag':
        return ({ known: { tags } }) =>
          Object.hasOwn(tags, term.key) && tags[term.key] === term.value;
      case 'figure': {
        const values = await measures.of(term.metric);
        return ({ known: { id } }) => compares(values.get(id), term.op, term.value);
      }
      case 'field': {
        if (term.field === 'incident') {
          return await this.#incidentTest(term.values, measures);
        }
        return (device) => term.values.some((value) => hasField(device, term.field, value));
      }
    }
  }

  /** `incident:any`, or severities. */
  async #incidentTest(values: readonly string[], measures: Asked): Promise<Test> {
    const asked = await Promise.all(
      values.map((value) => measures.firing(value === 'any' ? undefined : value)),
    );
    return ({ known: { id } }) => asked.some((one) => (one.get(id) ?? 0) > 0);
  }

  async #sorted(
    found: readonly Found[],
    sort: SearchRequest['sort'],
    measures: Asked,
  ): Promise<readonly Found[]> {
    const isDown = sort.startsWith('-');
    const column = (isDown ? sort.slice(1) : sort) as Sort;
    if (column === 'name') {
      return isDown ? found.toReversed() : found;
    }
    const values = await this.#valuesOf(column, measures);
    const keyed = found.map((device) => ({ device, key: keyOf(device, column, values) }));
    // What has no value is last, whatever the direction.
    keyed.sort((a, b) =>
      a.key === undefined || b.key === undefined
        ? Number(a.key === undefined) - Number(b.key === undefined)
        : (isDown ? -1 : 1) * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) ||
          a.device.known.rank - b.device.known.rank,
    );
    return keyed.map(({ device }) => device);
  }

  async #valuesOf(column: Sort, measures: Asked): Promise<Values> {
    return column === 'incidents'
      ? await measures.firing()
      : Object.hasOwn(figures, column)
        ? await measures.of(figures[column]!)
        : new Map<number, number>();
  }
}

function hasField({ known, agent, isOnline }: Found, field: string, value: string): boolean {
  const { row, roles, tags, name } = known;
  const has = (text: string | null | undefined): boolean =>
    text?.toLowerCase().includes(value) === true;
  switch (field) {
    case 'name':
      return has(name);
    case 'host':
      return has(row.hostname);
    case 'address':
      return row.ip_address?.startsWith(value) === true;
    case 'os':
      return has([row.os, row.os_version].join(' '));
    case 'version':
      return agent?.agent_version?.startsWith(value) === true;
    case 'arch':
      return has(row.arch);
    case 'kernel':
      return has(row.kernel_version);
    case 'role':
      return roles.includes(value);
    case 'tag':
      return Object.hasOwn(tags, value);
    default:
      return isOnline === (value === 'online');
  }
}

function compares(value: number | undefined, op: Comparison, other: number): boolean {
  if (value === undefined || Number.isNaN(value)) {
    return false;
  }
  switch (op) {
    case '>':
      return value > other;
    case '>=':
      return value >= other;
    case '<':
      return value < other;
    case '<=':
      return value <= other;
    case '=':
      return value === other;
    case '!=':
      return value !== other;
  }
}

function keyOf(
  { known: { id, row }, agent, isOnline }: Found,
  column: Sort,
  values: Values,
): number | string | undefined {
  switch (column) {
    case 'status':
      return Number(isOnline);
    case 'address':
      return row.ip_address === null ? undefined : padded(row.ip_address);
    case 'os':
      return row.os === null ? undefined : padded(`${row.os} ${row.os_version ?? ''}`);
    case 'version':
      return agent?.agent_version === null || agent === undefined
        ? undefined
        : padded(agent.agent_version);
    case 'seen':
      return Math.max(row.last_seen_at, agent?.last_seen_at ?? 0);
    case 'incidents':
      return values.get(id) ?? 0;
    default:
      return values.get(id);
  }
}

/** Numbers within a text are compared as numbers: 10.0.0.9 is before 10.0.0.10. */
const padded = (text: string): string =>
  text.toLowerCase().replaceAll(/\d{1,15}/g, (digits) => digits.padStart(15, '0'));

const batch = 1_000;

/** A device as far as it is searched by what it is. */
export interface Known {
  readonly id: number;
  readonly name: string;
  /** Place in the order of names. */
  readonly rank: number;
  readonly row: DeviceRow;
  readonly tags: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
  /** Text in which a word without a field is looked for, in lower case. */
  readonly text: string;
}

/** All devices in memory, as of the last change of one: a search looks at each. */
export class Inventory {
  readonly #tables: Tables<DeviceTables>;
  #known: Promise<readonly Known[]> | undefined;

  constructor(tables: Tables<DeviceTables>) {
    this.#tables = tables;
  }

  /** A device was made, changed or removed. */
  forget(): void {
    this.#known = undefined;
  }

  /** Returns all devices, sorted by name. */
  all(): Promise<readonly Known[]> {
    const known = this.#known ?? this.#read();
    this.#known = known;
    // A failed read is repeated for the next search.
    known.catch(() => this.#known === known && this.forget());
    return known;
  }

  async #read(): Promise<readonly Known[]> {
    const store = new DeviceStore(this.#tables.read);
    const rows: DeviceRow[] = [];
    for (let after = 0; ;) {
      const page = await store.page(after, batch);
      rows.push(...page);
      if (page.length < batch) {
        break;
      }
      after = page.at(-1)!.id;
    }
    const { compare } = new Intl.Collator('en', { numeric: true });
    return rows
      .map((row) => ({ row, name: nameOf(row) }))
      .sort((a, b) => compare(a.name, b.name) || a.row.id - b.row.id)
      .map(({ row, name }, rank) => ({
        id: row.id,
        name,
        rank,
        row,
        tags: tagsOf(row),
        roles: rolesOf(row),
        text: [name, row.hostname, row.ip_address].join('\n').toLowerCase(),
      }));
  }
}
