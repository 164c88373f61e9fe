import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { messageOf } from 'svc/sdk';

import { bundleThread } from '../../bin/bundler/bundle.ts';
import { bundleSources } from '../../bin/bundler/sources.ts';
import { startChild } from '../../plugins/packs/process/child.ts';
import type { Child } from '../../plugins/packs/process/child-options.ts';
import { type Ground, loot, type Try } from './pack-escape-ground.ts';

/**
 * Function bodies in a pack. One that returns `got` has succeeded; `secret`, `own` (its folder),
 * `out` (a file to write), `port`, `udp`, `pipe` and `host` (a process id) are given to it. Failing
 * is what they should do.
 */
const bodies: Readonly<Record<string, string>> = {
  readFileSync: `return fs.readFileSync(secret, 'utf8')`,
  readFile: `return await fs.promises.readFile(secret, 'utf8')`,
  open: `return String(fs.openSync(secret, 'r')) + got`,
  'opened handle': `return (await (await fs.promises.open(secret)).readFile('utf8'))`,
  'read stream': `let all = ''; for await (const c of fs.createReadStream(secret)) all += c; return all`,
  'path as bytes': `return fs.readFileSync(Buffer.from(secret), 'utf8')`,
  'path as octets': `return fs.readFileSync(new Uint8Array(Buffer.from(secret)), 'utf8')`,
  'path as URL': `return fs.readFileSync(new URL('file://' + secret), 'utf8')`,
  'path that walks up': `return fs.readFileSync(own + '/../keys/' + secret.split('/').pop(), 'utf8')`,
  'bytes that walk up': `return fs.readFileSync(Buffer.from(own + '/../keys/' + secret.split('/').pop()), 'utf8')`,
  'double slashes': `return fs.readFileSync(secret.replaceAll('/', '//'), 'utf8')`,
  'through /proc/self/root': `return fs.readFileSync('/proc/self/root' + secret, 'utf8')`,
  'through /proc/self/cwd': `return fs.readFileSync('/proc/self/cwd' + secret, 'utf8')`,
  'a neighbour of the same beginning': `return fs.readFileSync(own + '-twin/k.txt', 'utf8')`,
  'utf8Write replaced': `Buffer.prototype.utf8Write = ((w) => function (s, o, l) { return w.call(this, s.replace('own', ''), o, l); })(Buffer.prototype.utf8Write); return fs.readFileSync(Buffer.from(own + '/../keys/' + secret.split('/').pop()), 'utf8')`,
  'path.resolve replaced': `const p = require('path'); p.resolve = (s) => s; p.toNamespacedPath = (s) => s; return fs.readFileSync(own + '/../keys/' + secret.split('/').pop(), 'utf8')`,
  'startsWith replaced': `String.prototype.startsWith = () => true; Array.prototype.includes = () => true; return fs.readFileSync(secret, 'utf8')`,
  'list a folder': `return fs.readdirSync(require('path').dirname(secret)).join()`,
  'open a folder': `return (await (await fs.promises.opendir(require('path').dirname(secret))).read()).name`,
  'walk a folder': `return fs.readdirSync(own + '/..', { recursive: true }).join()`,
  glob: `return fs.globSync ? fs.globSync('**', { cwd: require('path').dirname(secret) }).join() : ''`,
  stat: `return fs.statSync(secret).size + got`,
  lstat: `return fs.lstatSync(secret).size + got`,
  statfs: `return fs.statfsSync('/etc').type + got`,
  exists: `return fs.existsSync(secret) ? got : ''`,
  access: `fs.accessSync(secret); return got`,
  'real path': `return fs.realpathSync.native(own + '/..') + got`,
  'read a link': `return fs.readlinkSync('/proc/self/exe') + got`,
  watch: `fs.watch(secret).close(); return got`,
  'watch by polling': `await new Promise((r, j) => { const w = fs.watchFile(secret, { interval: 5 }, r); w.on('error', j); setTimeout(j, 60); }); return got`,
  'blob of a file': `return await (await fs.openAsBlob(secret)).text()`,
  copy: `fs.copyFileSync(secret, own + '/c'); return fs.readFileSync(own + '/c', 'utf8')`,
  'copy a folder': `fs.cpSync(require('path').dirname(secret), own + '/c', { recursive: true }); return got`,
  'link into its folder': `fs.symlinkSync(secret, own + '/l'); return fs.readFileSync(own + '/l', 'utf8')`,
  'hard link into its folder': `fs.linkSync(secret, own + '/h'); return fs.readFileSync(own + '/h', 'utf8')`,
  'rename into its folder': `fs.renameSync(secret, own + '/r'); return fs.readFileSync(own + '/r', 'utf8')`,
  'the environment of the host': `return fs.readFileSync('/proc/' + host + '/environ', 'latin1')`,
  'its own environment': `return JSON.stringify(process.env)`,
  loadEnvFile: `process.loadEnvFile(secret); return got`,
  'a report of the process': `return process.report.writeReport(out)`,
  'a report by its settings': `process.report.directory = require('path').dirname(out); process.report.reportOnUncaughtException = true; return process.report.getReport().header.commandLine + got`,
  write: `fs.writeFileSync(out, 'x'); return got`,
  append: `fs.appendFileSync(out, 'x'); return got`,
  'write stream': `const s = fs.createWriteStream(out); s.end('x'); await require('stream/promises').finished(s); return got`,
  'open to write': `fs.openSync(out, 'w'); return got`,
  'make a folder': `fs.mkdirSync(out); return got`,
  'make a temporary folder': `return fs.mkdtempSync(out) + got`,
  'write into its folder': `fs.writeFileSync(own + '/x', 'x'); return got`,
  'change its own file': `fs.chmodSync(own + '/own.txt', 0o777); return got`,
  'change it by its handle': `fs.fchmodSync(fs.openSync(own + '/own.txt', 'r'), 0o777); return got`,
  'own it by its handle': `fs.fchownSync(fs.openSync(own + '/own.txt', 'r'), 1, 1); return got`,
  truncate: `fs.truncateSync(own + '/own.txt'); return got`,
  delete: `fs.rmSync(own + '/own.txt'); return got`,
  'change times': `fs.utimesSync(own + '/own.txt', 1, 1); return got`,
  'compile cache': `return require('module').enableCompileCache(out).directory + got`,
  exec: `return require('child_process').execSync('cat ' + secret).toString()`,
  spawn: `return String(require('node:child_process').spawnSync('id').stdout) + got`,
  fork: `return require('child_process').fork('/tmp/x.js').pid + got`,
  cluster: `return require('cluster').fork().id + got`,
  worker: `new (require('worker_threads').Worker)('1', { eval: true }); return got`,
  'process.binding': `return process.binding('fs') && got`,
  'process.binding of spawn': `return process.binding('spawn_sync').spawn({ file: '/bin/id', args: ['id'] }) && got`,
  'linked binding': `return process._linkedBinding('fs') && got`,
  dlopen: `process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6'); return got`,
  engine: `require('crypto').setEngine('/lib/x86_64-linux-gnu/libc.so.6'); return got`,
  addon: `return require(own + '/x.node') && got`,
  'require of a path': `return require(secret)`,
  'require of code': `return require(secret.replace('.key', '.js'))`,
  'import of a path': `return (await import(secret.replace('.key', '.js'))).default`,
  'import of a module': `return (await import('node:child_process')).execSync && got`,
  'import by eval': `return (await eval("import('node:net')")).connect && got`,
  'import by indirect eval': `return (await (0, eval)("import('node:net')")).connect && got`,
  'import by Function': `return (await Function("return import('node:net')")()).connect && got`,
  'import by Function of a map': `return (await ["return import('node:net')"].map((s) => Reflect.construct(Function, [s]))[0]()).connect && got`,
  'import by an async function': `return (await (async () => {}).constructor("return import('node:net')")()).connect && got`,
  'import by then(eval)': `return (await Promise.resolve("import('node:net')").then(eval)).connect && got`,
  getBuiltinModule: `return process.getBuiltinModule('child_process') && got`,
  sqlite: `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(':memory:').exec("ATTACH DATABASE '" + out + "' AS x; CREATE TABLE x.t(a)"); return got`,
  vm: `return require('vm').runInThisContext("import('fs')", { importModuleDynamically: require('vm').constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }) && got`,
  module: `return require('module').createRequire('/x.js')('net') && got`,
  'constructor of module': `return module.constructor._load('child_process') && got`,
  'main of require': `return require.main.require('child_process') && got`,
  'main of process': `return process.mainModule.require('child_process') && got`,
  'cache of require': `return Object.values(require.cache)[0].require('child_process') && got`,
  'parent of module': `return module.parent.require('child_process') && got`,
  'frames of a stack': `const old = Error.prepareStackTrace; try { Error.prepareStackTrace = (_e, frames) => frames; const found = new Error().stack.map((f) => f.getThis && f.getThis()).find((t) => t && (t.require || t.constructor && t.constructor._load)); return found && (found.require || found.constructor._load)('child_process') && got } finally { Error.prepareStackTrace = old }`,
  'functions of a stack': `const old = Error.prepareStackTrace; try { Error.prepareStackTrace = (_e, frames) => frames; const found = new Error().stack.map((f) => f.getFunction && f.getFunction()).find((f) => f && f.constructor === Function && /native\\(/.test(String(f))); return found ? got : '' } finally { Error.prepareStackTrace = old }`,
  callers: `const f = function () { return f.caller && f.caller.caller && f.caller.caller.arguments; }; const a = f(); return a && a[1] && a[1]('child_process') && got`,
  'a set that has everything': `const has = Set.prototype.has; try { Set.prototype.has = () => true; Map.prototype.has = () => true; return require('node:child_process') && got } finally { Set.prototype.has = has }`,
  'a prototype with modules': `Object.prototype.child_process = { leaked: 1 }; try { return require('child_process').execSync && got } finally { delete Object.prototype.child_process }`,
  'an id that changes': `let n = 0; return require({ toString: () => (n++ ? 'child_process' : 'fs') }).execSync && got`,
  'an id of an array': `return require(['node:child_process']).execSync && got`,
  'replace replaced': `const r = String.prototype.replace; try { String.prototype.replace = () => 'fs'; return require('node:vm').Script && got } finally { String.prototype.replace = r }`,
  wasi: `return new (require('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }) && got`,
  inspector: `require('inspector').open(0, '127.0.0.1'); return got`,
  'inspector session': `const s = new (require('inspector').Session)(); s.connect(); return got`,
  'trace events': `require('trace_events').createTracing({ categories: ['node'] }).enable(); return got`,
  'v8 flags': `require('v8').setFlagsFromString('--allow-natives-syntax'); return got`,
  'heap snapshot': `return require('v8').writeHeapSnapshot(out)`,
  repl: `return require('repl').start && got`,
  'test runner': `return require('node:test').run && got`,
  'single executable': `return require('node:sea').isSea && got`,
  net: `await new Promise((r, j) => require('net').connect(port, '127.0.0.1', r).on('error', j)); return got`,
  'net by pipe': `await new Promise((r, j) => require('net').connect(pipe, r).on('error', j)); return got`,
  http: `await new Promise((r, j) => require('http').get({ port }, r).on('error', j)); return got`,
  https: `await new Promise((r, j) => require('https').get({ port }, r).on('error', j)); return got`,
  http2: `await new Promise((r, j) => require('http2').connect('http://127.0.0.1:' + port, r).on('error', j)); return got`,
  tls: `await new Promise((r, j) => require('tls').connect(port, r).on('error', j)); return got`,
  dgram: `const s = require('dgram').createSocket('udp4'); await new Promise((r, j) => s.send('x', udp, '127.0.0.1', (e) => (e ? j(e) : r()))); return got`,
  dns: `return await require('dns').promises.lookup('localhost') && got`,
  'dns of a server': `return new (require('dns').Resolver)() && got`,
  fetch: `return await (await fetch('http://127.0.0.1:' + port)).text()`,
  WebSocket: `await new Promise((r, j) => { const w = new WebSocket('ws://127.0.0.1:' + port); w.onerror = j; w.onopen = r; setTimeout(j, 200); }); return got`,
  EventSource: `return new EventSource('http://127.0.0.1:' + port) && got`,
  'the socket of standard output': `await new Promise((r, j) => new process.stdout.constructor().connect(port, '127.0.0.1', r).on('error', j)); return got`,
  'the socket of standard error, by pipe': `await new Promise((r, j) => new process.stderr.constructor().connect({ path: pipe }, r).on('error', j)); return got`,
  'a lookup by that socket': `await new Promise((r, j) => new process.stdout.constructor().connect({ port, host: 'localhost', lookup: (_h, _o, done) => { r(); done(null, '127.0.0.1', 4); } }).on('error', j)); return got`,
  'the handle of standard output': `const P = process.stdout._handle.constructor; const h = new P(0); return typeof h.connect({ oncomplete() {} }, pipe) === 'number' ? got : ''`,
  'listening by that handle': `const P = process.stdout._handle.constructor; const h = new P(1); return h.bind(out) === 0 ? got : ''`,
  'a sealed method defined anew': `const S = process.stdout.constructor; Object.defineProperty(S.prototype, 'connect', { value: 1 }); return got`,
  'the dispatcher of fetch': `new Headers(); const d = globalThis[Symbol.for('undici.globalDispatcher.1')]; return d && await new Promise((r, j) => d.dispatch({ origin: 'http://127.0.0.1:' + port, path: '/', method: 'GET' }, { onConnect() {}, onHeaders: () => r(got), onData() {}, onComplete() {}, onError: j }))`,
  'handles of the process': `return process._getActiveHandles().length + got`,
  'handles by async hooks': `const found = []; require('async_hooks').createHook({ init: (_a, type, _t, r) => found.push(r) }).enable(); await fs.promises.readFile(own + '/own.txt'); return found.some((r) => r && typeof r.connect === 'function' && r.connect.name !== 'value' && r.connect({}, pipe) === 0) ? got : ''`,
  'channels of diagnostics': `let seen; require('diagnostics_channel').subscribe('net.client.socket', (m) => (seen = m)); return seen ? got : ''`,
  'a signal': `process.kill(host, 0); return got`,
  'a signal below': `process._kill(host, 0); return got`,
  'a debugger in the host': `process._debugProcess(host); return got`,
  'the priority of the host': `require('os').setPriority(host, 19); return got`,
  'who runs it': `return require('os').userInfo().username + got`,
  'addresses of the machine': `return JSON.stringify(require('os').networkInterfaces()) + got`,
  'another user': `process.setuid(process.getuid()); return got`,
  'another group': `process.setgroups([0]); return got`,
  'another folder': `process.chdir('/tmp'); return got`,
  'another program': `process.execve('/bin/true', ['true'], {}); return got`,
};

/** Attempts by a pack from its own process. */
export async function runTries(
  ground: Ground,
): Promise<{ readonly tries: readonly Try[]; readonly end: () => Promise<void> }> {
  const own = join(ground.home, 'own');
  mkdirSync(own);
  mkdirSync(`${own}-twin`);
  writeFileSync(join(own, 'own.txt'), 'mine');
  writeFileSync(join(`${own}-twin`, 'k.txt'), loot);
  const known = {
    secret: ground.secret,
    own,
    out: join(ground.writable, 'out'),
    port: ground.port,
    udp: ground.udpPort,
    pipe: ground.pipe,
    host: process.pid,
  };
  const child = await startedChild(
    own,
    Object.entries(bodies)
      .map(([name, body]) => asFunction(name, body, known))
      .join(',\n'),
    join(ground.home, 'cache'),
  );
  const tries = Object.keys(bodies).map((name): Try => ({
    stage: 'run',
    name,
    attempt: () => asked(child, name),
  }));
  const untouched: Try = {
    stage: 'run',
    name: 'its files afterwards',
    attempt: async () =>
      readFileSync(join(own, 'own.txt'), 'utf8') === 'mine' && realpathSync(own) === own
        ? ''
        : loot,
  };
  return { tries: [...tries, untouched], end: () => child.stop() };
}

const asFunction = (name: string, body: string, known: object): string =>
  `${JSON.stringify(name)}: async () => { const fs = require('node:fs'); const { secret, own, out, port, udp, pipe, host } = ${JSON.stringify(known)}; const got = ${JSON.stringify(` ${loot}`)}; ${body} }`;

async function startedChild(own: string, routes: string, cacheDir: string): Promise<Child> {
  const { code: program } = await bundleThread(
    fileURLToPath(new URL('../../plugins/packs/pack-worker.ts', import.meta.url)),
    'packs',
    bundleSources,
  );
  const quiet = (): void => undefined;
  const child = startChild({
    label: 'thief',
    code: `exports.default = { routes: { ${routes} } };`,
    filename: join(own, 'index.cjs'),
    origin: { program, cacheDir, isBinary: false },
    read: [own],
    startMs: 60_000,
    pingMs: 60_000,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    random: Math.random,
    restart: { firstMs: 10, maxMs: 20, maxRestarts: 1_000 },
  });
  await child.ready;
  return child;
}

/** Returns the result, including the cause of a refusal. */
async function asked(child: Child, name: string): Promise<string> {
  try {
    return String(await child.call('route', { key: name, call: {} }, { timeoutMs: 20_000 }));
  } catch (error) {
    return messageOf(error);
  }
}
