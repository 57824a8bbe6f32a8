"""The server as an application: `uvicorn server.app:app`, or this file as a program."""

import trainyard.openenv

app = trainyard.openenv.app()


def main() -> None:
    trainyard.openenv.main()


if __name__ == "__main__":
    main()
