"""The APIs that clients and followers use: a design mounts `BrokerApis.handlers` on its servers, beside its own."""
