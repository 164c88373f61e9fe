import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

// oxlint-disable-next-line typescript/no-explicit-any -- what came in is looked at field by field
type Json = any;

export interface FakeGrafana {
  readonly url: string;
  readonly folders: Map<string, Json>;
  readonly sources: Map<string, Json>;
  readonly dashboards: Map<string, { meta: Json; dashboard: Json }>;
  /** Every request that changed something, as `POST /api/folders`. */
  readonly writes: string[];
  version: string;
  token: string;
  /** True while svc refuses the token of the data sources. */
  refusedBySvc: boolean;
  /** Runs before each write: somebody else is faster. */
  before: (method: string, path: string) => void;
  /** Statuses that writes of a path are answered with, one after the other. */
  readonly refusals: Map<string, [status: number, body: object][]>;
}

const unknownIn = (body: Json, allowed: readonly string[]): string | undefined =>
  Object.keys(body).find((name) => !allowed.includes(name));
const sourceFields = [
  'uid',
  'name',
  'type',
  'url',
  'access',
  'jsonData',
  'secureJsonData',
  'isDefault',
  'version',
];

/** Behaves as Grafana 9 to 12 do in what svc asks of it: versions count, names are unique, secrets are never shown again. */
export async function fakeGrafana(t: TestContext): Promise<FakeGrafana> {
  const fake: FakeGrafana = {
    url: '',
    folders: new Map(),
    sources: new Map(),
    dashboards: new Map(),
    writes: [],
    refusals: new Map(),
    version: '11.2.0',
    token: 'glsa_admin',
    refusedBySvc: false,
    before: () => undefined,
  };
  let ids = 0;
  const answer = async (req: IncomingMessage): Promise<[number, Json]> => {
    const path = req.url!.split('?', 1)[0]!;
    const method = req.method!;
    if (path === '/api/health') {
      return [200, { database: 'ok', version: fake.version, commit: 'x' }];
    }
    if (req.headers.authorization !== `Bearer ${fake.token}`) {
      return [401, { message: 'Invalid API key' }];
    }
    if (path === '/api/org') {
      return [200, { id: 1, name: 'Main Org.' }];
    }
    let body: Json;
    if (method !== 'GET') {
      fake.before(method, path);
      fake.writes.push(`${method} ${path}`);
      const refusal = fake.refusals.get(`${method} ${path}`)?.shift();
      if (refusal) {
        return refusal;
      }
      if (method !== 'DELETE') {
        const parts: Buffer[] = [];
        for await (const part of req) {
          parts.push(part as Buffer);
        }
        if (req.headers['content-type'] !== 'application/json') {
          return [415, { message: 'unsupported media type' }];
        }
        body = JSON.parse(Buffer.concat(parts).toString());
      }
    }
    const [, , area, second, third, fourth] = path.split('/');
    switch (area) {
      case 'datasources':
        return sources(method, second === 'uid' ? third : undefined, fourth, body);
      case 'folders':
        return folders(method, second, body);
      case 'dashboards':
        return dashboards(method, second === 'uid' ? third : undefined, body);
      default:
        return [404, { message: 'Not found' }];
    }
  };

  const sources = (
    method: string,
    uid: string | undefined,
    page: string | undefined,
    body: Json,
  ): [number, Json] => {
    const found = uid === undefined ? undefined : fake.sources.get(uid);
    if (page === 'health') {
      if (found && fake.refusedBySvc) {
        return [400, { status: 'ERROR', message: '401 Unauthorized' }];
      }
      return found
        ? [200, { status: 'OK', message: 'ok' }]
        : [404, { message: 'Data source not found' }];
    }
    const strange = body && unknownIn(body, sourceFields);
    if (strange) {
      return [400, { message: `bad request data: ${strange}` }];
    }
    if (uid !== undefined && !found) {
      return [404, { message: 'Data source not found' }];
    }
    if (method === 'GET') {
      const { secureJsonData, ...shown } = found;
      return [
        200,
        {
          ...shown,
          secureJsonFields: Object.fromEntries(
            Object.keys(secureJsonData).map((name) => [name, true]),
          ),
        },
      ];
    }
    if (
      [...fake.sources.values()].some(
        (other) => other.name === body.name && other.uid !== (uid ?? body.uid),
      )
    ) {
      return [409, { message: 'data source with the same name already exists' }];
    }
    if (found && body.version !== found.version) {
      return [
        409,
        {
          message:
            'Datasource has already been updated by someone else. Please reload and try again',
        },
      ];
    }
    const kept = {
      readOnly: false,
      ...found,
      ...body,
      id: found?.id ?? ++ids,
      version: (found?.version ?? 0) + 1,
    };
    fake.sources.set(kept.uid, kept);
    return [
      200,
      {
        id: kept.id,
        message: 'Datasource added',
        datasource: { ...kept, secureJsonData: undefined },
      },
    ];
  };

  const folders = (method: string, uid: string | undefined, body: Json): [number, Json] => {
    if (uid === undefined && method === 'GET') {
      return [200, [...fake.folders.values()]];
    }
    const found = uid === undefined ? undefined : fake.folders.get(uid);
    if (uid !== undefined && !found) {
      return [404, { message: 'folder not found', status: 'not-found' }];
    }
    if (method === 'GET') {
      return [200, found];
    }
    if (
      [...fake.folders.values()].some(
        ({ title, uid: other }) => title === body.title && other !== uid,
      )
    ) {
      return [
        409,
        { message: 'a folder with the same name already exists in the current location' },
      ];
    }
    if (found && body.version !== found.version) {
      return [
        412,
        { message: 'the folder has been changed by someone else', status: 'version-mismatch' },
      ];
    }
    const kept = {
      id: found?.id ?? ++ids,
      uid: uid ?? body.uid,
      title: body.title,
      version: (found?.version ?? 0) + 1,
    };
    fake.folders.set(kept.uid, kept);
    return [200, kept];
  };

  const dashboards = (method: string, uid: string | undefined, body: Json): [number, Json] => {
    const known = uid ?? body?.dashboard?.uid;
    const found = fake.dashboards.get(known);
    if (uid !== undefined) {
      if (!found) {
        return [404, { message: 'Dashboard not found' }];
      }
      return method === 'DELETE'
        ? (fake.dashboards.delete(uid), [200, { title: found.dashboard.title }])
        : [200, found];
    }
    const { dashboard, folderUid, overwrite } = body;
    if (
      unknownIn(body, ['dashboard', 'folderUid', 'overwrite', 'message']) ||
      !/^[\w-]{1,40}$/.test(dashboard.uid) ||
      overwrite !== false
    ) {
      return [400, { message: 'bad request data' }];
    }
    if (folderUid !== undefined && !fake.folders.has(folderUid)) {
      return [400, { message: 'folder not found' }];
    }
    if (found && dashboard.version !== found.dashboard.version) {
      return [
        412,
        { status: 'version-mismatch', message: 'The dashboard has been changed by someone else' },
      ];
    }
    if (
      [...fake.dashboards.values()].some(
        (other) =>
          other.dashboard.title === dashboard.title && other.dashboard.uid !== dashboard.uid,
      )
    ) {
      return [
        412,
        {
          status: 'name-exists',
          message: 'A dashboard with the same name in the folder already exists',
        },
      ];
    }
    const version = (found?.dashboard.version ?? 0) + 1;
    const id = found?.dashboard.id ?? ++ids;
    fake.dashboards.set(dashboard.uid, {
      meta: { provisioned: false, folderUid: folderUid ?? '', version },
      dashboard: { ...dashboard, id, version },
    });
    return [
      200,
      { id, uid: dashboard.uid, version, status: 'success', url: `/d/${dashboard.uid}` },
    ];
  };

  const server = createServer((req, res: ServerResponse) => {
    void answer(req).then(([status, body]) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
