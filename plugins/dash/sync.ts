import { createHash } from 'node:crypto';

import type { DashboardView } from 'svc/contracts/monitor';

import { dashboardJson, grafanaUid, ownTag } from './dashboard-json.ts';
import type { DataSource } from './data-sources.ts';
import { type Grafana, type GrafanaAnswer, Refused } from './grafana.ts';
import type { ObjectKind, SyncStore, Written } from './sync-store.ts';

export const results = ['created', 'updated', 'unchanged', 'removed', 'kept', 'failed'] as const;

export interface Change {
  readonly kind: 'folder' | ObjectKind;
  readonly uid: string;
  readonly title: string;
  readonly result: (typeof results)[number];
  /** Why it was kept or failed; of a data source, what Grafana says when it asks us. */
  readonly detail: string;
}

export interface Wish {
  readonly sources: readonly DataSource[];
  /** Undefined while nothing here knows of dashboards: those that are there stay. */
  readonly dashboards: readonly DashboardView[] | undefined;
  readonly folder: string;
  /** Shown by the data sources when they ask us. */
  readonly token: string;
  /** True to overwrite even what people changed there. */
  readonly overwrite: boolean;
  readonly dryRun: boolean;
}

type Json = Readonly<Record<string, unknown>>;
type Outcome = Pick<Change, 'result'> & Partial<Pick<Change, 'detail'>>;

const folderUid = 'svc';
/** Somebody else may write at the same time: what changed meanwhile is read again. */
const mostTries = 3;

/** One pass that brings one Grafana to what is here. */
export class Sync {
  readonly #grafana: Grafana;
  readonly #store: SyncStore;
  readonly #wish: Wish;
  readonly #changes: Change[] = [];

  constructor(grafana: Grafana, store: SyncStore, wish: Wish) {
    this.#grafana = grafana;
    this.#store = store;
    this.#wish = wish;
  }

  async run(): Promise<readonly Change[]> {
    const { sources, dashboards } = this.#wish;
    const known = await this.#known('data_source');
    for (const source of sources) {
      await this.#note('data_source', source.uid, source.name, () =>
        this.#source(source, known.get(source.uid)),
      );
    }
    if (dashboards !== undefined) {
      await this.#boards(dashboards);
    }
    return this.#changes;
  }

  async #boards(dashboards: readonly DashboardView[]): Promise<void> {
    const { folder } = this.#wish;
    let parent: string | undefined;
    await this.#note('folder', folderUid, folder, async () => {
      const { uid, ...outcome } = await this.#folder();
      parent = uid;
      return outcome;
    });
    const written = await this.#known('dashboard');
    for (const dashboard of dashboards) {
      const uid = grafanaUid(dashboard.uid);
      await this.#note('dashboard', uid, dashboard.title, () =>
        this.#dashboard(dashboard, written.get(uid), parent),
      );
      written.delete(uid);
    }
    for (const gone of written.values()) {
      await this.#note('dashboard', gone.uid, gone.uid, () => this.#gone(gone));
    }
  }

  async #known(kind: ObjectKind): Promise<Map<string, Written>> {
    return new Map((await this.#store.all(kind)).map((row) => [row.uid, row]));
  }

  async #note(
    kind: Change['kind'],
    uid: string,
    title: string,
    make: () => Promise<Outcome>,
  ): Promise<void> {
    try {
      this.#changes.push({ kind, uid, title, detail: '', ...(await make()) });
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      this.#changes.push({ kind, uid, title, result: 'failed', detail: error.message });
    }
  }

  async #source(source: DataSource, known: Written | undefined): Promise<Outcome> {
    const path = `/api/datasources/uid/${source.uid}`;
    const digest = digestOf([source, this.#wish.token]);
    const body = {
      ...source,
      isDefault: false,
      secureJsonData: { httpHeaderValue1: `Bearer ${this.#wish.token}` },
    };
    for (let tries = 1; ; tries++) {
      const { status, json: found } = await this.#grafana.call('GET', path, undefined, [404]);
      const isMissing = status === 404;
      if (found['readOnly'] === true) {
        return {
          result: 'kept',
          detail: 'it is provisioned from a file of Grafana; change it there',
        };
      }
      if (!isMissing && known?.digest === digest && isWithin(withoutName(source), found)) {
        return await this.#reached(path, 'unchanged');
      }
      if (this.#wish.dryRun) {
        return { result: isMissing ? 'created' : 'updated' };
      }
      // A name that somebody gave it there stays.
      const named = isMissing
        ? body
        : {
            ...body,
            name: found['name'],
            isDefault: found['isDefault'] === true,
            version: found['version'],
          };
      const answer = isMissing
        ? await this.#grafana.call('POST', '/api/datasources', named, [409])
        : await this.#grafana.call('PUT', path, named, [404, 409, 412]);
      if (answer.status < 300) {
        const version = Number((answer.json['datasource'] as Json | undefined)?.['version'] ?? 0);
        await this.#store.put('data_source', { uid: source.uid, digest, version });
        return await this.#reached(path, isMissing ? 'created' : 'updated');
      }
      if (isMissing) {
        throw new Refused(
          `Grafana has another data source by the name "${source.name}"; rename or delete that one`,
        );
      }
      assertTries(tries);
    }
  }

  /** A source that Grafana cannot query shows nothing but errors, however well it was written. */
  async #reached(path: string, result: Change['result']): Promise<Outcome> {
    const { status, json } = await this.#grafana.call(
      'GET',
      `${path}/health`,
      undefined,
      [400, 404, 500, 501, 502, 504],
    );
    if (status === 404 || status === 501) {
      // Versions that cannot tell.
      return { result, detail: '' };
    }
    if (status === 200 && json['status'] === 'OK') {
      return { result, detail: 'Grafana reaches it' };
    }
    const said = typeof json['message'] === 'string' ? json['message'].slice(0, 300) : '';
    return {
      result: 'failed',
      detail: `Grafana cannot query it${said === '' ? '' : `: ${said}`}; check dash.svc_url, and create another dash.svc_token with "svc token create grafana"`,
    };
  }

  async #folder(): Promise<Outcome & { readonly uid?: string }> {
    const { folder: title, dryRun } = this.#wish;
    for (let tries = 1; ; tries++) {
      const { status, json: found } = await this.#grafana.call(
        'GET',
        `/api/folders/${folderUid}`,
        undefined,
        [404],
      );
      if (status !== 404 && found['title'] === title) {
        return { uid: folderUid, result: 'unchanged' };
      }
      if (dryRun) {
        return { result: status === 404 ? 'created' : 'updated' };
      }
      const answer =
        status === 404
          ? await this.#grafana.call('POST', '/api/folders', { uid: folderUid, title }, [409, 412])
          : await this.#grafana.call(
              'PUT',
              `/api/folders/${folderUid}`,
              { title, version: found['version'] },
              [404, 409, 412],
            );
      if (answer.status < 300) {
        return { uid: folderUid, result: status === 404 ? 'created' : 'updated' };
      }
      // Somebody has one of that title: it serves as well.
      const { list } = await this.#grafana.call('GET', '/api/folders?limit=1000');
      const same = list.find((candidate) => candidate['title'] === title);
      if (typeof same?.['uid'] === 'string') {
        return {
          uid: same['uid'],
          result: 'unchanged',
          detail: 'a folder with that title already existed',
        };
      }
      assertTries(tries);
    }
  }

  async #dashboard(
    view: DashboardView,
    known: Written | undefined,
    parent: string | undefined,
  ): Promise<Outcome> {
    const json = dashboardJson(view);
    const digest = digestOf(json);
    const uid = grafanaUid(view.uid);
    let title = view.title;
    for (let tries = 1; ; tries++) {
      const { status, json: found } = await this.#grafana.call(
        'GET',
        `/api/dashboards/uid/${uid}`,
        undefined,
        [404],
      );
      const isMissing = status === 404;
      const [there, meta] = [objectAt(found, 'dashboard'), objectAt(found, 'meta')];
      const settled = isMissing ? undefined : this.#settled(there, meta, digest, known);
      if (settled !== undefined) {
        return settled;
      }
      if (this.#wish.dryRun) {
        return { result: isMissing ? 'created' : 'updated' };
      }
      if (isMissing && parent === undefined) {
        throw new Refused(
          `the folder "${this.#wish.folder}" could not be created, so no dashboards were put into it`,
        );
      }
      const dashboard = {
        ...json,
        title,
        ...(isMissing ? { id: null } : { id: there['id'], version: there['version'] }),
      };
      // Where people moved it, it stays.
      const place = isMissing ? parent : meta['folderUid'];
      const body = {
        dashboard,
        ...(typeof place === 'string' && place !== '' && { folderUid: place }),
        overwrite: false,
        message: 'written by svc',
      };
      const answer = await this.#grafana.call('POST', '/api/dashboards/db', body, [409, 412]);
      if (answer.status < 300) {
        await this.#store.put('dashboard', {
          uid,
          digest,
          version: Number(answer.json['version'] ?? 0),
        });
        return { result: isMissing ? 'created' : 'updated' };
      }
      title = isNameTaken(answer) ? `${view.title} (${view.uid})` : title;
      assertTries(tries);
    }
  }

  /**
   * Returns the result if the existing object stays as it is; undefined if it has to be written.
   */
  #settled(
    there: Json,
    meta: Json,
    digest: string,
    known: Written | undefined,
  ): Outcome | undefined {
    if (meta['provisioned'] === true) {
      return {
        result: 'kept',
        detail: 'it is provisioned from a file of Grafana; change it there',
      };
    }
    const isOwn =
      known !== undefined || (Array.isArray(there['tags']) && there['tags'].includes(ownTag));
    if (!isOwn) {
      return {
        result: 'kept',
        detail:
          'a dashboard with this uid exists and was not created by svc; delete it there, or leave it',
      };
    }
    const isTouched = known !== undefined && known.version !== there['version'];
    if (isTouched && !this.#wish.overwrite) {
      return { result: 'kept', detail: 'it was changed in Grafana; set overwrite to replace it' };
    }
    return !isTouched && known?.digest === digest ? { result: 'unchanged' } : undefined;
  }

  async #gone({ uid, version }: Written): Promise<Outcome> {
    const { status, json } = await this.#grafana.call(
      'GET',
      `/api/dashboards/uid/${uid}`,
      undefined,
      [404],
    );
    if (
      status !== 404 &&
      objectAt(json, 'dashboard')['version'] !== version &&
      !this.#wish.overwrite
    ) {
      return {
        result: 'kept',
        detail: 'it was deleted here, but changed in Grafana; set overwrite to remove it',
      };
    }
    if (!this.#wish.dryRun) {
      await this.#grafana.call('DELETE', `/api/dashboards/uid/${uid}`, undefined, [404]);
      await this.#store.remove('dashboard', uid);
    }
    return { result: 'removed' };
  }
}

function assertTries(tries: number): void {
  if (tries >= mostTries) {
    throw new Refused(`it was changed in Grafana ${mostTries} times meanwhile; run it again`);
  }
}

/** A folder has one dashboard of a title, in older versions. */
const isNameTaken = ({ status, json }: GrafanaAnswer): boolean =>
  status === 412 && json['status'] === 'name-exists';

const objectAt = (json: Json, name: string): Json =>
  typeof json[name] === 'object' && json[name] !== null ? (json[name] as Json) : {};

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex');

const withoutName = ({ name: _, ...rest }: DataSource): object => rest;

/** Returns whether `whole` contains everything in `part`. */
function isWithin(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) {
    return part === whole;
  }
  if (
    typeof whole !== 'object' ||
    whole === null ||
    (Array.isArray(part) && (!Array.isArray(whole) || part.length !== whole.length))
  ) {
    return false;
  }
  return Object.entries(part).every(([key, value]) =>
    isWithin(value, (whole as Record<string, unknown>)[key]),
  );
}
