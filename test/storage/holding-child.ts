import { DataLock } from '../../core/storage/index.ts';

new DataLock(process.argv[2]!, { now: Date.now }).announce('http://127.0.0.1:4711');
process.stdout.write('held\n');
setInterval(() => {}, 1_000);
