import { mayRead, type Page, type PageRequest, type Principal } from 'svc/sdk';
import type { DeviceScope } from 'svc/query';
import type { Static } from 'typebox';

import type { Devices } from './devices.ts';
import type { Cells, FoundDevice, Groups, SearchQuery } from './schema.ts';
import type { Measures, Values } from './measures.ts';
import { figures, metricOf } from './search-terms.ts';
import type { Found, Search } from './search.ts';

type Shown = Static<typeof FoundDevice>;

const mostGroups = 500;
const mostCells = 20_000;
const shownFigures = ['cpu', 'memory', 'load', 'disk'] as const;
const severities = ['critical', 'warning', 'info'] as const;
const none: Values = new Map();

/** Who searches, and the refusal of figures and alerts to a token that may not read them. */
export interface Asker {
  readonly principal: Principal;
  readonly requireRead: (area: 'metricsdb') => void;
}

export interface FoundDevicesParts {
  readonly search: Search;
  readonly measures: Measures;
  readonly devices: Pick<Devices, 'shownAll'>;
  readonly scopeOf: (principal: Principal) => Promise<DeviceScope | undefined>;
}

/** Results of a search: as a list with figures, as groups with their health, as a cell for each device. */
export class FoundDevices {
  readonly #parts: FoundDevicesParts;

  constructor(parts: FoundDevicesParts) {
    this.#parts = parts;
  }

  async page(
    asker: Asker,
    { search = '', sort = 'name' }: Static<typeof SearchQuery>,
    { limit, after }: PageRequest,
  ): Promise<Page<Shown>> {
    const found = await this.#found(asker, search, sort);
    const from = Number(after?.[0] ?? 0);
    const part = found.slice(from, from + limit);
    const shown = await this.#parts.devices.shownAll(part.map(({ known: { row } }) => row));
    const [values, alerts] = [await this.#figures(asker), await this.#alerts(asker)];
    const figure = (name: (typeof shownFigures)[number], id: number): number | null =>
      finite(values[name].get(id));
    return {
      total: found.length,
      next: from + limit < found.length ? [from + limit] : undefined,
      items: shown.map((device, at): Shown => {
        const { agent } = part[at]!;
        return {
          ...device,
          agent_version: agent?.agent_version ?? null,
          edge_id: agent?.id ?? null,
          cpu: figure('cpu', device.id),
          memory: figure('memory', device.id),
          load: figure('load', device.id),
          disk: figure('disk', device.id),
          firing: severities.reduce((sum, one) => sum + (alerts[one].get(device.id) ?? 0), 0),
          severity: severities.find((one) => (alerts[one].get(device.id) ?? 0) > 0) ?? null,
        };
      }),
    };
  }

  async groups(asker: Asker, search: string, by: string): Promise<Static<typeof Groups>> {
    const found = await this.#found(asker, search, 'name');
    const alerts = await this.#alerts(asker);
    const groups = new Map<string, Static<typeof Groups>['groups'][number]>();
    for (const device of found) {
      const { id } = device.known;
      for (const name of groupsOf(device, by)) {
        const group = groups.get(name) ?? { name, devices: 0, offline: 0, critical: 0, warning: 0 };
        groups.set(name, group);
        group.devices += 1;
        group.offline += Number(!device.isOnline);
        const state = stateOf(id, alerts);
        group.critical += Number(state === 'critical');
        group.warning += Number(state === 'warning');
      }
    }
    const sorted = [...groups.values()].sort(
      (a, b) => Number(a.name === '') - Number(b.name === '') || (a.name < b.name ? -1 : 1),
    );
    return {
      groups: sorted.slice(0, mostGroups),
      left_out: Math.max(0, sorted.length - mostGroups),
    };
  }

  /** Each cell has its value of `figure`, if one is asked for. */
  async cells(asker: Asker, search: string, figure?: string): Promise<Static<typeof Cells>> {
    const found = await this.#found(asker, search, 'name');
    const alerts = await this.#alerts(asker);
    const values = figure === undefined ? undefined : await this.#valuesOf(asker, figure);
    return {
      total: found.length,
      cells: found.slice(0, mostCells).map(({ known: { id, name }, isOnline }) => ({
        id,
        name,
        state: isOnline ? stateOf(id, alerts) : 'offline',
        ...(values && { value: finite(values.get(id)) }),
      })),
    };
  }

  async #valuesOf({ requireRead }: Asker, figure: string): Promise<Values> {
    requireRead('metricsdb');
    return await this.#parts.measures.of(metricOf(figure));
  }

  async #found(
    asker: Asker,
    search: string,
    sort: NonNullable<Static<typeof SearchQuery>['sort']>,
  ): Promise<readonly Found[]> {
    const { search: engine, measures: all, scopeOf } = this.#parts;
    const measures = {
      of: (metric: string) => {
        asker.requireRead('metricsdb');
        return all.of(metric);
      },
      firing: (severity?: string) => {
        asker.requireRead('metricsdb');
        return all.firing(severity);
      },
    };
    return await engine.run({ search, sort, scope: await scopeOf(asker.principal), measures });
  }

  /** Returns whether figures are shown; without them, the devices are shown all the same. */
  #shows({ principal }: Asker): boolean {
    return this.#parts.measures.isAvailable && mayRead(principal, 'metricsdb');
  }

  async #figures(asker: Asker): Promise<Readonly<Record<(typeof shownFigures)[number], Values>>> {
    const { measures } = this.#parts;
    const isShown = this.#shows(asker);
    const asked = await Promise.all(
      shownFigures.map(async (name) => (isShown ? await measures.of(figures[name]!) : none)),
    );
    return { cpu: asked[0]!, memory: asked[1]!, load: asked[2]!, disk: asked[3]! };
  }

  async #alerts(asker: Asker): Promise<Readonly<Record<(typeof severities)[number], Values>>> {
    const { measures } = this.#parts;
    const isShown = this.#shows(asker);
    const asked = await Promise.all(
      severities.map(async (severity) => (isShown ? await measures.firing(severity) : none)),
    );
    return { critical: asked[0]!, warning: asked[1]!, info: asked[2]! };
  }
}

const finite = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : value;

function stateOf(
  id: number,
  { critical, warning }: Readonly<Record<'critical' | 'warning', Values>>,
): 'ok' | 'warning' | 'critical' {
  return (critical.get(id) ?? 0) > 0 ? 'critical' : (warning.get(id) ?? 0) > 0 ? 'warning' : 'ok';
}

function groupsOf({ known: { row, roles, tags }, agent, isOnline }: Found, by: string) {
  switch (by) {
    case 'role':
      return roles.length === 0 ? [''] : roles;
    case 'os':
      return [[row.os, row.os_version].filter(Boolean).join(' ')];
    case 'version':
      return [agent?.agent_version ?? ''];
    case 'status':
      return [isOnline ? 'online' : 'offline'];
    default: {
      const key = by.slice('tag:'.length);
      return [Object.hasOwn(tags, key) ? tags[key]! : ''];
    }
  }
}
