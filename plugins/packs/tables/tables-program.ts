import { join } from 'node:path';

/**
 * The text of the process that has tables open. SQLite is a package with an addon, which no text can carry: it is found in the installation
 * below `root`, and in the single binary among what that carries.
 */
export function tablesProgram(text: string, root: string, isBinary: boolean): string {
  return `${isBinary ? carriedSqlite(join(root, 'better_sqlite3.node')) : installedSqlite(join(root, 'package.json'))}\n${text}`;
}

const installedSqlite = (packagesFrom: string): string => `{
  const [plain, from] = [require, require('node:module').createRequire(${JSON.stringify(packagesFrom)})];
  require = (name) => (name === 'better-sqlite3' ? from : plain)(name);
}`;

const carriedSqlite = (addonFile: string): string => `{
  const plain = require;
  let sqlite;
  const carried = () => {
    const [addon, module] = [{ exports: {} }, { exports: {} }];
    process.dlopen(addon, ${JSON.stringify(addonFile)});
    const text = plain('node:sea').getAsset('threads/better-sqlite3', 'utf8');
    plain('node:vm').compileFunction(text, ['exports', 'require', 'module'])(module.exports, plain, module);
    return new Proxy(module.exports.default, {
      construct: (target, [file, options], newTarget) => Reflect.construct(target, [file, { ...options, nativeBinding: addon.exports }], newTarget),
    });
  };
  require = (name) => (name === 'better-sqlite3' ? (sqlite ??= carried()) : plain(name));
}`;
