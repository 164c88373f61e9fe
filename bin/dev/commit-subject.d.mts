export declare function subjectProblem(subject: string): string | undefined;
