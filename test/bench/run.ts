import { exercise } from '../exercise.ts';

process.exitCode = await exercise(import.meta.dirname, 'bench', process.argv.slice(2));
