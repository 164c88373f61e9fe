import { tmpdir } from 'node:os';

/** A folder for what must not lie in memory, where `npm test` has the other temporary files: that is below /dev, which edges tell nobody of. */
export const onDisk = (): string => process.env['SVC_TEST_DISK'] ?? tmpdir();
