-- 1: svc wrote it of what it saw of devices, as it does reports of incidents; who sees some devices alone does not read it.
ALTER TABLE knowledge_docs ADD COLUMN of_devices INTEGER NOT NULL DEFAULT 0;

UPDATE knowledge_docs SET of_devices = 1 WHERE created_by = 'reports' AND org_id IS NULL;

-- The index is told of them once more.
DELETE FROM knowledge_changes WHERE doc_id IN (SELECT id FROM knowledge_docs WHERE of_devices = 1);
INSERT INTO knowledge_changes (doc_id, removed) SELECT id, 0 FROM knowledge_docs WHERE of_devices = 1;
