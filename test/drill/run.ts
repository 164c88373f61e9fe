import { exercise } from '../exercise.ts';

process.exitCode = await exercise(import.meta.dirname, 'drill', process.argv.slice(2));
