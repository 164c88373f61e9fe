// Which call is meant for the program of an agent, and how Node runs it; plain JavaScript, for the launcher and the single binary.

/** "svc edge" and nothing else: its other commands, and its help, are those of the large program. */
export function isAgent([first, ...others]) {
  return (
    first === 'edge' &&
    (others.length === 0 || others[0].startsWith('-')) &&
    !others.some((other) => other === '--help' || other === '-h')
  );
}

/**
 * An agent does little, but for ever: memory counts, and the speed of hot loops does not. What can still be said once Node runs; with
 * the first of these its young generation stays as small as it began.
 */
export function slimDown() {
  setFlags(
    '--semi-space-growth-factor=1',
    '--heap-growing-percent=10',
    '--optimize-for-size',
    '--no-opt',
    '--no-sparkplug',
  );
}

/**
 * Budgets by which the engine counts how often a function has run before it optimizes it: its own, and that of a start, in which
 * most functions run for the last time soon after. Other engines count in another way.
 */
const budgets = process.versions.v8.startsWith('11.3.')
  ? { own: 66 * 1024, start: 528 * 1024 }
  : undefined;

/**
 * Sets what serves a start. A quarter of its CPU went into optimizing functions, and a tenth into marking a heap that only grows,
 * again and again. Call it before the first text is loaded, since the code cache is valid only for the flags that it was made with.
 */
export function hurry() {
  setFlags('--heap-growing-percent=100', ...budgetOf('start'));
}

/**
 * Sets what serves the time after the start, once no cached text is loaded any more. Heap growth is limited: by default V8 lets
 * garbage grow to three times the live size if the machine has memory, and svc shares the machine. At a quarter the idle binary had
 * some 10 MB less than at a half; with fifty hosts and readers a fifth took 6 % more CPU.
 */
export function settle() {
  setFlags('--heap-growing-percent=25', ...budgetOf('own'));
}

const budgetOf = (time) => (budgets === undefined ? [] : [`--interrupt-budget=${budgets[time]}`]);

function setFlags(...flags) {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  flags.forEach((flag) => setFlagsFromString(flag));
}
