import { exercise } from '../exercise.ts';

// Not by itself: what a bench leaves open must not keep the terminal.
process.exit(await exercise(import.meta.dirname, 'bench', process.argv.slice(2)));
