import { startTestEdge } from 'svc/testing';

/** The agent of the machine that has the SSH server, in a process of its own. */
await startTestEdge({ after: () => {} }, { plugins: ['edge-uplink'], dataDir: process.argv[2]! });
process.on('disconnect', () => process.exit(0));
