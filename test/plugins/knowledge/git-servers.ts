import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { peer } from '../../peers.ts';
import { certificate } from '../lib/tunnel/certificate.ts';
import { startSshd } from '../webshell/sshd.ts';
import type { KnowledgeHouse } from './house.ts';

type Files = Readonly<Record<string, string | Uint8Array | undefined>>;

export interface Entry {
  readonly mode: string;
  readonly name: string;
  readonly content?: string;
  readonly oid?: string;
}

/** A repository on a server, and what is done to it there. */
export class Origin {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.git('init', '--bare', '--quiet', '--initial-branch=main');
  }

  git(...args: string[]): string {
    return this.#run(args, '');
  }

  /** A commit upon what the branch has, or upon nothing; undefined removes a file. Returns its name. */
  commit(files: Files, { branch = 'main', anew = false, message = 'change' } = {}): string {
    const ref = `refs/heads/${branch}`;
    const known = spawnSync('git', ['rev-parse', '--verify', '--quiet', ref], {
      cwd: this.folder,
      encoding: 'utf8',
    }).stdout.trim();
    const parts: (string | Uint8Array)[] = [
      `${anew ? 'reset ' + ref + '\n\n' : ''}commit ${ref}\ncommitter T <t@example.org> ${1_700_000_000} +0000\ndata <<END\n${message}\nEND\n`,
    ];
    if (known !== '' && !anew) {
      parts.push(`from ${known}\n`);
    }
    for (const [path, content] of Object.entries(files)) {
      const bytes = content === undefined ? undefined : Buffer.from(content as string);
      parts.push(
        bytes === undefined ? `D ${path}\n` : `M 100644 inline ${path}\ndata ${bytes.length}\n`,
        bytes ?? '',
        bytes === undefined ? '' : '\n',
      );
    }
    this.#run(
      ['fast-import', '--quiet', '--force'],
      Buffer.concat(parts.map((part) => Buffer.from(part as string))),
    );
    return this.git('rev-parse', ref).trim();
  }

  /** The one name that a command of git prints. */
  plain(...args: [...string[], string | Uint8Array]): string {
    return this.#run(args.slice(0, -1) as string[], args.at(-1)!).trim();
  }

  blob(content: string): string {
    return this.plain('hash-object', '-w', '--stdin', content);
  }

  /** Puts a commit of this tree where the branch is. */
  head(tree: string, branch = 'main'): string {
    const commit = this.git(
      '-c',
      'user.name=T',
      '-c',
      'user.email=t@example.org',
      'commit-tree',
      '-m',
      'odd',
      tree,
    ).trim();
    this.git('update-ref', `refs/heads/${branch}`, commit);
    return commit;
  }

  /** A file of the repository itself. */
  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Creates a commit of one tree with the given entries, however odd. */
  commitTree(entries: readonly Entry[], branch = 'main'): string {
    return this.head(this.tree(entries), branch);
  }

  tree(entries: readonly Entry[]): string {
    const raw = entries
      .toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
      .map(({ mode, name, content, oid }) =>
        Buffer.concat([
          Buffer.from(`${mode} ${name}\0`),
          Buffer.from(oid ?? this.blob(content ?? ''), 'hex'),
        ]),
      );
    return this.plain(
      'hash-object',
      '-w',
      '-t',
      'tree',
      '--literally',
      '--stdin',
      Buffer.concat(raw),
    );
  }

  #run(args: readonly string[], input: string | Uint8Array): string {
    const { status, stdout, stderr } = spawnSync('git', [...args], {
      cwd: this.folder,
      input,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) {
      throw new Error(`git ${args.join(' ')}: ${stderr}`);
    }
    return stdout;
  }
}

export interface GitServer {
  readonly url: (name: string) => string;
  readonly origin: (name: string) => Origin;
  /** Environment of a host that reads from it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the body of each of its repositories besides the address. */
  readonly access: (house: Pick<KnowledgeHouse, 'ask'>) => Promise<object>;
}

export interface GitHttps extends GitServer {
  /** PEM of what signed its certificate. */
  readonly authority: string;
}

/** The ways that git comes to a repository by. */
export const gitServers: Readonly<
  Record<string, (t: TestContext) => Promise<GitServer | undefined>>
> = { HTTPS: startGitHttps, SSH: startGitSsh };

/** git's own upload-pack behind a real sshd. */
async function startGitSsh(t: TestContext): Promise<GitServer | undefined> {
  const sshd = await startSshd(t);
  if (sshd === undefined || peer(t, 'git') === undefined) {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-git-ssh-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    url: (name) => `ssh://${sshd.user}@127.0.0.1:${sshd.port}${folder}/${name}`,
    origin: (name) => new Origin(join(folder, name)),
    environment: {},
    async access({ ask }) {
      const { body } = await ask('POST', '/ssh-identities', {
        body: { name: 'reader', private_key: sshd.privateKey },
      });
      return { ssh_identity_id: body.id };
    },
  };
}

/** git's own http-backend behind nginx, over HTTPS; below /private/ it wants a password. */
export async function startGitHttps(t: TestContext): Promise<GitHttps | undefined> {
  const [nginx, wrap] = [peer(t, 'nginx'), peer(t, 'fcgiwrap')];
  if (nginx === undefined || wrap === undefined) {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-git-https-'));
  const { cert, key } = certificate(t, 'localhost');
  const port = await freePort();
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'users'), 'reader:{PLAIN}s3cret-of-reader\n');
  mkdirSync(join(folder, 'repos', 'private'), { recursive: true });
  const backend = [
    ...[
      'include /etc/nginx/fastcgi_params',
      'fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend',
      'fastcgi_param GIT_HTTP_EXPORT_ALL ""',
    ],
    ...[
      `fastcgi_param GIT_PROJECT_ROOT ${folder}/repos`,
      'fastcgi_param PATH_INFO $uri',
      'fastcgi_param REMOTE_USER $remote_user',
      `fastcgi_pass unix:${folder}/cgi.sock`,
    ],
  ];
  const config = [
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; ${process.getuid?.() === 0 ? `user ${userInfo().username};` : ''} events {}`,
    `http { access_log off; client_body_temp_path ${folder}/a; fastcgi_temp_path ${folder}/b; proxy_temp_path ${folder}/c; uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;`,
    `server { listen 127.0.0.1:${port} ssl; ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;`,
    `location / { ${backend.join('; ')}; }`,
    `location /private/ { auth_basic git; auth_basic_user_file ${folder}/users; ${backend.join('; ')}; }`,
    `location /moved/ { return 302 https://localhost:${port}/open.git/info/refs?service=git-upload-pack; }`,
    '} }',
  ];
  writeFileSync(join(folder, 'nginx.conf'), config.join('\n'));
  const children = [
    spawn(wrap, ['-s', `unix:${folder}/cgi.sock`], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    }),
    spawn(nginx, ['-c', join(folder, 'nginx.conf'), '-p', folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  ];
  t.after(async () => {
    await Promise.all(children.map(ended));
    rmSync(folder, { recursive: true, force: true });
  });
  await listens(port);
  return {
    url: (name) => `https://localhost:${port}/${name}`,
    origin: (name) => new Origin(join(folder, 'repos', name)),
    environment: { SVC_KNOWLEDGE_GIT_AUTHORITIES: cert },
    access: () => Promise.resolve({}),
    authority: cert,
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }
}

async function listens(port: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; ; await pause(20)) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () =>
        resolve(false),
      );
      socket.once('connect', () => socket.destroy());
    });
    if (open) {
      return;
    }
    if (Date.now() > deadline) {
      throw new Error(`nothing listens on port ${port}`);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
