/** Beginning of a file that svc itself has written for the parser: pages of a website as JSON. */
export const pagesMark = 'svc pages\n';
