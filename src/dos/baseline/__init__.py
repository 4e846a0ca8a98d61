"""Do the workspace's setup and test pass on the target before anybody has worked?"""
