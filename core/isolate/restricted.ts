// The first statement of a child. Where the flags got lost (a single binary ignores them on its command line) the
// code of a stranger would run with every right of the host, so without the restrictions nothing runs at all.
if ((process.permission as { has(scope: string): boolean } | undefined)?.has('fs.write') !== false) {
  process.stderr.write('refused to run: the permission model is off in this process, so nothing holds the code back\n');
  process.exit(78);
}

export {};
