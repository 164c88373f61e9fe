/** Package for a plugin's thread in the single binary, which has no file of it. */
export { default } from 'better-sqlite3';
