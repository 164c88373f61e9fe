import { exercise } from '../exercise.ts';

// Not by itself: what a drill leaves open must not keep the terminal.
process.exit(await exercise(import.meta.dirname, 'drill', process.argv.slice(2)));
