"""The files of a run folder: read and written by the harness, the judge, the reports and the mining job."""
