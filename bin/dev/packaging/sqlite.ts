/** What a plugin's thread in the single binary gets for the package, which there is no file of. */
export { default } from 'better-sqlite3';
