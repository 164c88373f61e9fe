import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { programOf } from '../program-of.ts';
import type { Ends } from './alert-prometheus-units.ts';
import { certify } from './rca-real-certificate.ts';
import type { ServiceOptions } from './rca-real-service.ts';
import { Link } from './rca-real-link.ts';
import { Disk } from './rca-real-disk.ts';

/** Programs of the drill by the Debian package that brings them. */
export const programs: Readonly<Record<string, string>> = {
  prometheus: 'prometheus',
  'prometheus-node-exporter': 'prometheus-node-exporter',
  'prometheus-process-exporter': 'prometheus-process-exporter',
  'prometheus-postgres-exporter': 'prometheus-postgres-exporter',
  'prometheus-redis-exporter': 'prometheus-redis-exporter',
  'prometheus-nginx-exporter': 'prometheus-nginx-exporter',
  'prometheus-mysqld-exporter': 'prometheus-mysqld-exporter',
  'prometheus-blackbox-exporter': 'prometheus-blackbox-exporter',
  nginx: 'nginx-light',
  psql: 'postgresql',
  'redis-server': 'redis-server',
  mariadbd: 'mariadb-server',
  openssl: 'openssl',
};

/** Packages of programs that are not installed. */
export const lacking = (): readonly string[] =>
  Object.entries(programs)
    .filter(([name]) => spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${name}`]).status)
    .map(([, name]) => name);

const base = 19_100;
export const ports = {
  front: base,
  status: base + 1,
  postgres: base + 2,
  redis: base + 3,
  mariadb: base + 4,
  prometheus: base + 5,
  node: base + 6,
  process: base + 7,
  postgresExporter: base + 8,
  redisExporter: base + 9,
  nginxExporter: base + 10,
  mysqldExporter: base + 11,
  blackbox: base + 12,
  shop: base + 20,
  catalog: base + 21,
  carts: base + 22,
  orders: base + 23,
  payments: base + 24,
  reviews: base + 25,
  uploads: base + 26,
  search: base + 27,
} as const;

/** Services in the order in which they start; `shop` stands before all others. */
export const services = [
  'catalog',
  'carts',
  'payments',
  'orders',
  'reviews',
  'uploads',
  'search',
  'shop',
] as const;
export type Service = (typeof services)[number];

const shopped = services.filter((name) => name !== 'shop' && name !== 'payments');
const bin = '/usr/lib/postgresql';
const root = fileURLToPath(new URL('../..', import.meta.url));
const serviceFile = fileURLToPath(new URL('rca-real-service.ts', import.meta.url));

/** Real services and the exporters that measure them, on this machine alone. */
export class Stand {
  readonly folder: string;
  readonly link = new Link();
  readonly disk: Disk;
  readonly #t: Ends;
  readonly #children = new Map<string, ChildProcess>();
  /** Control group in which a service starts. */
  readonly groups = new Map<string, string>();
  #isOver = false;

  constructor(t: Ends, folder: string) {
    this.#t = t;
    this.folder = folder;
    this.disk = new Disk(join(folder, 'mount'), join(folder, 'disk.img'));
  }

  async start(): Promise<void> {
    mkdirSync(this.folder, { recursive: true });
    chmodSync(this.folder, 0o755);
    this.#t.after(() => this.#end());
    this.disk.mount();
    this.link.open();
    certify(this.folder, 'good', 3_650);
    await this.startPostgres();
    await this.#startRedis();
    await this.startMariadb();
    for (const name of services) {
      await this.startService(name);
    }
    this.writeNginx(ports.shop);
    this.run('nginx', '/usr/sbin/nginx', ['-c', this.#at('nginx.conf'), '-p', this.folder]);
    await this.listening(ports.front);
    this.#startExporters();
  }

  pid(name: string): number {
    const { pid } = this.#children.get(name) ?? {};
    assert.ok(pid, `${name} does not run`);
    return pid;
  }

  get redisAddress(): { readonly host: string; readonly port: number } {
    return { host: this.link.address, port: ports.redis };
  }

  run(
    name: string,
    program: string,
    args: readonly string[],
    { user, env }: { readonly user?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): ChildProcess {
    const log = openSync(this.#at(`${name}.log`), 'a');
    const id = user === undefined ? {} : idsOf(user);
    const child = spawn(program, args, {
      stdio: ['ignore', log, log],
      cwd: root,
      ...id,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    });
    this.#children.set(name, child);
    return child;
  }

  async listening(port: number, host = '127.0.0.1'): Promise<void> {
    const { connect } = await import('node:net');
    for (let tries = 0; tries < 600; tries += 1) {
      const isOpen = await new Promise<boolean>((resolve) => {
        const socket = connect(port, host, () => resolve(true));
        socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
      });
      if (isOpen) {
        return;
      }
      await pause(100);
    }
    throw new Error(`nothing listens on ${host}:${port}; its log is in ${this.folder}`);
  }

  /** Starts a service again whenever it ends, as an init system does. */
  async startService(name: Service): Promise<void> {
    const begin = (): void => {
      const child = this.run(name, process.execPath, [
        ...programOf(serviceFile),
        JSON.stringify(this.#optionsOf(name)),
      ]);
      const group = this.groups.get(name);
      if (group !== undefined) {
        writeFileSync(join(group, 'cgroup.procs'), String(child.pid));
      }
      child.on('exit', () => {
        if (!this.#isOver) {
          setTimeout(begin, 1_000);
        }
      });
    };
    begin();
    await this.listening(ports[name]);
  }

  async startPostgres(): Promise<void> {
    const data = this.#at('postgres');
    const programsAt = execFileSync('sh', ['-c', `ls -d ${bin}/*/bin | tail -1`], {
      encoding: 'utf8',
    }).trim();
    const isNew = !existsSync(data);
    if (isNew) {
      this.#own(data, 'postgres');
      this.#once(join(programsAt, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres'], {
        user: 'postgres',
      });
    }
    const settings = {
      port: ports.postgres,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      wal_sync_method: 'open_datasync',
      max_connections: 60,
    };
    const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    this.run('postgres', join(programsAt, 'postgres'), ['-D', data, ...args], { user: 'postgres' });
    await this.listening(ports.postgres);
    if (isNew) {
      await this.sql('CREATE DATABASE shop', 'postgres');
      await this.sql(
        "CREATE TABLE products AS SELECT n AS id, repeat('x', 200) AS name FROM generate_series(1, 2000) n; CREATE INDEX ON products (id); CREATE TABLE orders (id serial, at timestamptz default now(), what text)",
      );
    }
  }

  /** Runs statements as an administrator, once the server takes them. */
  async sql(text: string, database = 'shop'): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const { status, stderr } = spawnSync('psql', [
        ...this.psqlArgs(database),
        '-v',
        'ON_ERROR_STOP=1',
        '-c',
        text,
      ]);
      if (status === 0) {
        return;
      }
      assert.ok(tries < 50, String(stderr));
      await pause(200);
    }
  }

  psqlArgs = (database = 'shop'): readonly string[] => [
    '-h',
    '127.0.0.1',
    '-p',
    String(ports.postgres),
    '-U',
    'postgres',
    database,
  ];

  async #startRedis(): Promise<void> {
    const { host } = this.redisAddress;
    const [program, ...before] = this.link.inside('redis-server');
    this.run('redis', program!, [
      ...before,
      '--port',
      String(ports.redis),
      '--bind',
      host,
      '--protected-mode',
      'no',
      '--save',
      '',
      '--maxmemory',
      '64mb',
      '--maxmemory-policy',
      'noeviction',
    ]);
    await this.listening(ports.redis, host);
  }

  async startMariadb(): Promise<void> {
    const data = this.#at('mariadb');
    const isNew = !existsSync(data);
    if (isNew) {
      this.#own(data, 'mysql');
      this.#once('/usr/bin/mariadb-install-db', [
        '--no-defaults',
        `--datadir=${data}`,
        '--user=mysql',
      ]);
    }
    const socket = join(data, 'socket');
    const args = [`--datadir=${data}`, `--socket=${socket}`, `--port=${ports.mariadb}`];
    this.run(
      'mariadb',
      '/usr/sbin/mariadbd',
      ['--no-defaults', ...args, '--bind-address=127.0.0.1'],
      {
        user: 'mysql',
      },
    );
    await this.listening(ports.mariadb);
    if (isNew) {
      const statements = [
        'CREATE DATABASE shop',
        "CREATE USER shop@'127.0.0.1' IDENTIFIED BY 'shop'",
        "GRANT ALL ON *.* TO shop@'127.0.0.1'",
        'CREATE TABLE shop.reviews (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(600))',
      ];
      this.#once('/usr/bin/mariadb', ['--no-defaults', '-S', socket, '-e', statements.join(';')]);
    }
  }

  /** Proxy in front of the shop, or of whatever listens on this port. */
  writeNginx(upstream: number): void {
    writeFileSync(
      this.#at('nginx.conf'),
      `daemon off; pid ${this.#at('nginx.pid')}; error_log ${this.#at('nginx-error.log')};
worker_processes 1; events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${this.#at(kind)};`).join(' ')}
  server { listen 127.0.0.1:${ports.front}; location / { proxy_pass http://127.0.0.1:${upstream}; proxy_read_timeout 5s; } }
  server { listen 127.0.0.1:${ports.status}; location /stub_status { stub_status; } }
}
`,
    );
  }

  #optionsOf(name: Service): ServiceOptions {
    const port = ports[name];
    const url = (one: Service): string => `http://127.0.0.1:${ports[one]}/${one}`;
    const trusts = this.#at('good.cert');
    const local = (store: number) => ({ host: '127.0.0.1', port: store });
    const own: Readonly<Record<Service, Omit<ServiceOptions, 'name' | 'port'>>> = {
      shop: { routed: true, calls: Object.fromEntries(shopped.map((one) => [one, url(one)])) },
      catalog: {
        store: {
          kind: 'postgres',
          name: 'postgres',
          address: local(ports.postgres),
          statement: 'SELECT count(*) FROM products WHERE id > 1000',
          connections: 8,
        },
      },
      orders: {
        store: {
          kind: 'postgres',
          name: 'postgres',
          address: local(ports.postgres),
          statement: "INSERT INTO orders (what) VALUES ('$text')",
          connections: 6,
        },
        calls: { payments: `https://127.0.0.1:${ports.payments}/payments` },
        trusts,
      },
      carts: {
        store: {
          kind: 'redis',
          name: 'redis',
          address: this.redisAddress,
          statement: 'SET cart:$key $text',
          connections: 4,
        },
      },
      reviews: {
        store: {
          kind: 'mariadb',
          name: 'mysql',
          address: local(ports.mariadb),
          statement: "INSERT INTO reviews (text) VALUES ('$text')",
          connections: 4,
        },
      },
      payments: { work: 60, tls: { cert: this.#at('live.cert'), key: this.#at('live.key') } },
      uploads: { folder: this.disk.folder },
      search: { work: 40, holds: 500_000 },
    };
    return { name, port, ...own[name] };
  }

  #startExporters(): void {
    const listen = (port: number): string => `--web.listen-address=127.0.0.1:${port}`;
    const single = (port: number): string => `-web.listen-address=127.0.0.1:${port}`;
    writeFileSync(
      this.#at('processes.yml'),
      'process_names:\n  - name: "{{.Comm}}"\n    cmdline: [".+"]\n',
    );
    writeFileSync(
      this.#at('blackbox.yml'),
      JSON.stringify({
        modules: {
          http_2xx: { prober: 'http', timeout: '4s' },
          tls: {
            prober: 'tcp',
            timeout: '4s',
            tcp: { tls: true, tls_config: { insecure_skip_verify: true } },
          },
        },
      }),
    );
    this.run('node-exporter', 'prometheus-node-exporter', [listen(ports.node)]);
    this.run('process-exporter', 'prometheus-process-exporter', [
      '-config.path',
      this.#at('processes.yml'),
      single(ports.process),
    ]);
    this.run(
      'postgres-exporter',
      'prometheus-postgres-exporter',
      [listen(ports.postgresExporter)],
      {
        env: {
          DATA_SOURCE_NAME: `postgresql://postgres@127.0.0.1:${ports.postgres}/shop?sslmode=disable`,
        },
      },
    );
    const { host, port } = this.redisAddress;
    this.run('redis-exporter', 'prometheus-redis-exporter', [
      '-redis.addr',
      `redis://${host}:${port}`,
      single(ports.redisExporter),
    ]);
    this.run('nginx-exporter', 'prometheus-nginx-exporter', [
      '-nginx.scrape-uri',
      `http://127.0.0.1:${ports.status}/stub_status`,
      single(ports.nginxExporter),
    ]);
    this.run(
      'mysqld-exporter',
      'prometheus-mysqld-exporter',
      [listen(ports.mysqldExporter), '--collect.info_schema.processlist'],
      {
        env: { DATA_SOURCE_NAME: `shop:shop@(127.0.0.1:${ports.mariadb})/` },
      },
    );
    this.run('blackbox-exporter', 'prometheus-blackbox-exporter', [
      `--config.file=${this.#at('blackbox.yml')}`,
      listen(ports.blackbox),
    ]);
  }

  /** Prometheus scrapes all of it, and writes it to svc. */
  async startPrometheus(svc: { readonly url: string; readonly token: string }): Promise<void> {
    const at = (port: number): string => `127.0.0.1:${port}`;
    const job = (name: string, port: number, more: object = {}): object => ({
      job_name: name,
      static_configs: [{ targets: [at(port)] }],
      ...more,
    });
    const probes = (module: string, targets: readonly (readonly [string, string])[]): object => ({
      job_name: `blackbox-${module}`,
      metrics_path: '/probe',
      params: { module: [module] },
      static_configs: targets.map(([service, target]) => ({
        targets: [target],
        labels: { service },
      })),
      relabel_configs: [
        { source_labels: ['__address__'], target_label: '__param_target' },
        { source_labels: ['__param_target'], target_label: 'instance' },
        { target_label: '__address__', replacement: at(ports.blackbox) },
      ],
    });
    const config = {
      global: { scrape_interval: '5s', scrape_timeout: '4s' },
      remote_write: [
        {
          url: `${svc.url}/api/v1/write`,
          authorization: { credentials: svc.token },
          queue_config: { batch_send_deadline: '1s' },
        },
      ],
      scrape_configs: [
        job('node', ports.node),
        job('process', ports.process),
        job('postgres', ports.postgresExporter),
        job('redis', ports.redisExporter),
        job('nginx', ports.nginxExporter),
        job('mysql', ports.mysqldExporter),
        ...services.map((name) =>
          job(
            name,
            ports[name],
            name === 'payments'
              ? { scheme: 'https', tls_config: { insecure_skip_verify: true } }
              : {},
          ),
        ),
        probes('http_2xx', [
          ['nginx', `http://${at(ports.front)}/healthz`],
          ...services
            .filter((name) => name !== 'payments')
            .map((name) => [name, `http://${at(ports[name])}/healthz`] as const),
        ]),
        probes('tls', [['payments', at(ports.payments)]]),
      ],
    };
    writeFileSync(this.#at('prometheus.yml'), JSON.stringify(config));
    this.run('prometheus', 'prometheus', [
      `--config.file=${this.#at('prometheus.yml')}`,
      `--web.listen-address=${at(ports.prometheus)}`,
      `--storage.tsdb.path=${this.#at('prometheus')}`,
    ]);
    await this.listening(ports.prometheus);
  }

  #at(name: string): string {
    return join(this.folder, name);
  }

  #own(folder: string, user: string): void {
    mkdirSync(folder, { recursive: true });
    const { uid, gid } = idsOf(user);
    chownSync(folder, uid, gid);
  }

  #once(program: string, args: readonly string[], { user }: { readonly user?: string } = {}): void {
    const id = user === undefined ? {} : idsOf(user);
    const { status, stderr } = spawnSync(program, args, { ...id, cwd: '/', encoding: 'utf8' });
    assert.equal(status, 0, `${program}: ${stderr}`);
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    for (const child of [...this.#children.values()].reverse()) {
      // Whoever was stopped takes no other signal first.
      child.kill('SIGCONT');
      child.kill(child.spawnfile.endsWith('postgres') ? 'SIGINT' : 'SIGTERM');
    }
    await pause(3_000);
    this.#children.forEach((child) => child.exitCode === null && child.kill('SIGKILL'));
    this.link.close();
    this.disk.unmount();
  }
}

function idsOf(user: string): { readonly uid: number; readonly gid: number } {
  const number = (flag: string): number =>
    Number(execFileSync('id', [flag, user], { encoding: 'utf8' }).trim());
  return { uid: number('-u'), gid: number('-g') };
}

/** Throws where something else listens on a port of the stand. */
export async function isFree(): Promise<void> {
  for (const port of Object.values(ports)) {
    await new Promise<void>((resolve, reject) => {
      const server = createServer().on('error', reject);
      server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
    });
  }
}
